"""Methods side by side: what is asked, the runs and who performs them, and what was found."""
