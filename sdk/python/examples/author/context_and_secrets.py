"""A tool receives only the keys of the run context and the secrets that it declares."""

from toolhost.plugin import Context, Plugin
from toolhost.testing import Host

plugin = Plugin("billing")


@plugin.tool(context_keys=["user"], requires_auth=["billing_token"])
def balance(ctx: Context) -> str:
    """Return the balance of the user."""
    return (
        f"{ctx.context['user']} with a token of {len(ctx.secrets['billing_token'])} characters, session {ctx.session}"
    )


if __name__ == "__main__":
    with Host(plugin) as host:
        context = {"user": "Ada", "other": 1}
        print(host.call("balance", context=context, secrets={"billing_token": "secret"}, session="s-1").text)

# Output:
# Ada with a token of 6 characters, session s-1
