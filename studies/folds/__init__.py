"""How far fold scores alone correct a search, and how often their interval covers."""
