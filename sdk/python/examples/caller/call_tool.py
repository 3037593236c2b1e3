"""Call a tool of a toolhost."""

from toolhost.client import Client
from toolhost.errors import NotFound

with Client(session="example") as toolhost:
    print(toolhost.call("echo", {"city": "Oslo"}).value)
    print(toolhost.call("fail", {"message": "there is no such street"}).result.is_error)
    try:
        toolhost.call("nosuch")
    except NotFound as error:
        print(error.kind)

# Output:
# {'city': 'Oslo'}
# True
# not_found
