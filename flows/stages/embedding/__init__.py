"""Stages that turn texts into vectors and prepare the encoding of queries."""
