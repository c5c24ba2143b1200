"""How many bytes the processes of a Dask cluster send to each other."""

from contextlib import contextmanager

from tornado.iostream import IOStream

_SENT = "bytes_sent_by_tests"


def count_sent():
    """Return how many bytes this process has sent, from the first call on.

    All connections of Dask write by this method, each byte once, so that the sum over
    the processes is all that went over the loopback address, frames and heartbeats
    included. Counters of the network interface have the traffic of others, too.
    """
    if not hasattr(IOStream, _SENT):
        write = IOStream.write_to_fd

        def write_and_count(stream, data):
            n_sent = write(stream, data)
            setattr(IOStream, _SENT, getattr(IOStream, _SENT) + (n_sent or 0))
            return n_sent

        IOStream.write_to_fd = write_and_count
        setattr(IOStream, _SENT, 0)
    return getattr(IOStream, _SENT)


@contextmanager
def bytes_moved(client):
    """Yield a list that holds, at the end, the bytes sent by all processes.

    Client and scheduler of a LocalCluster are in this process.
    """
    before = _count_all(client)
    moved = []
    yield moved
    moved.append(_count_all(client) - before)


def _count_all(client):
    return count_sent() + sum(client.run(count_sent).values())
