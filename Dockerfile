# The command line, without Spark and the node: docker build -t queryveil .
# Run it on a folder of logs, as yourself, and without a network:
#   docker run --rm --network none --user "$(id -u):$(id -g)" -v "$PWD:/data" queryveil profile log.tsv
FROM python:3.11-slim AS build
WORKDIR /source
COPY requirements.lock ./
RUN python -m venv /opt/queryveil \
 && /opt/queryveil/bin/pip install --no-cache-dir --no-compile --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN /opt/queryveil/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 queryveil
COPY --from=build /opt/queryveil /opt/queryveil
ENV PATH="/opt/queryveil/bin:$PATH" HOME=/tmp PYTHONDONTWRITEBYTECODE=1
USER queryveil
WORKDIR /data
ENTRYPOINT ["queryveil"]
CMD ["--help"]
