"""A tool reports status and progress to people, and writes log records that belong to the call."""

from toolhost.plugin import Context, Plugin
from toolhost.testing import Host

plugin = Plugin("mail")


@plugin.tool
def send(letters: int, ctx: Context) -> str:
    """Send letters."""
    ctx.status("sending")
    for number in range(1, letters + 1):
        ctx.progress(number, letters)
    ctx.logger.info("sent", extra={"letters": letters})
    return f"sent {letters} letters"


if __name__ == "__main__":
    with Host(plugin) as host:
        sent = host.call("send", {"letters": 2})
        for status in sent.statuses:
            print(status.state, status.message, status.progress)
        print(sent.logs[0].message, sent.logs[0].attributes)

# Output:
# doing sending None
# None None Progress(done=1.0, total=2.0, message='')
# None None Progress(done=2.0, total=2.0, message='')
# success None None
# sent {'letters': 2}
