"""Replications on the workers of a Dask cluster (`nodeb[cluster]`)."""

from nodeb.replication.cluster.connection import Cluster

__all__ = ["Cluster"]
