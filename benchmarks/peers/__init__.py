"""One adapter per competitor, each a class with `name` and `rank(nodes, weights, k)`.

`rank` goes all the way: Personalized PageRank, passage scores, best k passages. `RESTART` is ours;
libraries that speak of damping get 1 - restart.
"""

from peers.hippograph_ppr import HippographPpr
from peers.igraph_ppr import IgraphPpr
from peers.networkx_ppr import NetworkxPpr
from peers.scipy_ppr import ScipyPpr

PEERS = (HippographPpr, ScipyPpr, IgraphPpr, NetworkxPpr)
__all__ = ["PEERS", "HippographPpr", "IgraphPpr", "NetworkxPpr", "ScipyPpr"]
