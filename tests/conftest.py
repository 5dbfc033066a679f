"""One profile for everybody: the same examples in every run, so that a red test is a change and not the weather."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "sober", derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
)
settings.load_profile("sober")
