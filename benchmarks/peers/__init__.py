"""One adapter per competitor, all with the signature of `peers.base.Peer`.

The libraries are imported by their adapters alone, so that one that is missing costs nothing else.
"""
