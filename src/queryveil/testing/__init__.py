"""Test kits for methods, measures, readers, taxonomy loaders and detectors, also those of others.

Each kit is a function that raises `KitFailure` with all that is wrong, and a list of checks for
`pytest.mark.parametrize`::

    from queryveil.testing import check_method, method_checks

    check_method(HeadQueries(top=50))

    @pytest.mark.parametrize("check", method_checks(HeadQueries(top=50)), ids=str)
    def test_head_queries(check):
        check()
"""

from .checks import KitCheck, KitFailure, run_checks
from .detectors import check_detector, detector_checks
from .loaders import TaxonomySample, check_taxonomy_loader, taxonomy_loader_checks
from .logs import HOSTILE_ROWS, example_rows
from .measures import MeasureCase, check_measure, measure_checks
from .methods import check_method, method_checks
from .readers import ReaderSample, check_reader, reader_checks
from .runs import MethodRun

__all__ = [
    "HOSTILE_ROWS",
    "KitCheck",
    "KitFailure",
    "MeasureCase",
    "MethodRun",
    "ReaderSample",
    "TaxonomySample",
    "check_detector",
    "check_measure",
    "check_method",
    "check_reader",
    "check_taxonomy_loader",
    "detector_checks",
    "example_rows",
    "measure_checks",
    "method_checks",
    "reader_checks",
    "run_checks",
    "taxonomy_loader_checks",
]
