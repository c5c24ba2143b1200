"""Tests of what the papers' tables are made from, run by `make test-papers`."""
