"""What the SDK has reported."""


def reported(server, energy):
    """The runs that the server has when everything was sent."""
    assert energy.flush().left == 0
    return list(server.runs.values())
