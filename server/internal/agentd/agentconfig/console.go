package agentconfig

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/access/listen"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// Console configures the pages for browsers.
type Console struct {
	// The address for browsers: `IP:PORT`. One that is not on loopback needs `tls`.
	Listen string `yaml:"listen" is:"listener" unset:"there are no pages"`
	// The files of TLS. Without them, browsers reach the pages on this machine, or through a proxy.
	TLS authconfig.TLS `yaml:"tls"`
	// Where browsers find the pages, such as `https://agents.example.com`: a scheme and a host,
	// without a path. `http` is only for a name below localhost, such as
	// `http://agentd-k3f6.localhost:8600`, because the cookies of `localhost` are those of every port.
	URL string `yaml:"url" unset:"another name below localhost after each start; needed with tls"`
	// The login at an issuer of `auth.issuers`. Without it, people log in with codes of
	// `agentd console`.
	Login ConsoleLogin `yaml:"login"`
	// The addresses of proxies, such as `10.0.0.0/8`, that name their client in X-Forwarded-For. The
	// audit log has that address, and `network.connections_per_address` does not bound the proxies.
	TrustedProxies []string `yaml:"trusted_proxies" is:"network" hint:"write a list such as [10.0.0.0/8]" unset:"none: the address of the connection counts"`
}

// ConsoleLogin is what agentd needs to be a client of an OpenID Connect issuer. The issuer sends
// people back to the path `/login/callback` of `console.url`.
type ConsoleLogin struct {
	// The issuer, as in `auth.issuers`. Its `audience` has to contain `client_id`.
	Issuer string `yaml:"issuer" unset:"no login at an issuer"`
	// The name of agentd at the issuer.
	ClientID string `yaml:"client_id" unset:"needed with issuer"`
	// The file that holds the secret of agentd at the issuer.
	ClientSecretFile string `yaml:"client_secret_file" is:"file" unset:"agentd is a public client, which has no secret"`
	// What agentd asks the issuer for beside `openid`, such as `[profile, groups]`.
	Scopes []string `yaml:"scopes" is:"scope" hint:"write a list such as [profile]" unset:"nothing"`
}

// Listener returns the listener of the pages. Listen must not be empty.
func (c *Console) Listener() (listen.Config, error) {
	config, err := (&authconfig.Listener{Address: c.Listen, TLS: c.TLS}).Config()
	config.Web, config.Pages, config.Proxies = true, true, c.Proxies()
	return config, err
}

// Proxies returns TrustedProxies as networks. A file that was read without an error has no others.
func (c *Console) Proxies() []netip.Prefix {
	var all []netip.Prefix
	for _, text := range c.TrustedProxies {
		if p, err := networkOf(text); err == nil {
			all = append(all, p)
		}
	}
	return all
}

func networkOf(text string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), nil
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, errors.New("it is no network such as 10.0.0.0/8, and no address")
	}
	return netip.PrefixFrom(a, a.BitLen()), nil
}

// CheckConsoleURL returns why a text is not an origin for the pages.
func CheckConsoleURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.String() != text:
		return errors.New("it is no origin such as https://agents.example.com; write a scheme and a host, without a path")
	case u.Host != strings.ToLower(u.Host):
		return errors.New("browsers send a host in small letters; write it so")
	case u.Scheme == "https" && u.Port() != "443", u.Scheme == "http" && strings.HasSuffix(u.Hostname(), ".localhost"):
		return nil
	case u.Scheme == "https":
		return errors.New("browsers leave out the port 443; leave it out")
	case u.Scheme == "http":
		return errors.New("http is only for a name below localhost, such as http://agentd-k3f6.localhost:8600; use https")
	}
	return errors.New("the scheme has to be https")
}

// checkConsole reports settings of the pages that contradict each other.
func checkConsole(d *yamldoc.Decoder, c *Config) {
	const parent = "console"
	fail := func(key, format string, args ...any) {
		if full := parent + "." + key; !d.Failed(full) {
			d.Fail(d.At[full], full, format, args...)
		}
	}
	p := &c.Console
	if p.Listen == "" {
		others := p.URL != "" || p.TLS != (authconfig.TLS{}) || p.Login.Issuer != "" || len(p.TrustedProxies) > 0
		if others && !d.Failed(parent+".listen") {
			d.Fail(d.At[parent], parent, "the key listen is missing, which has the address for browsers, such as 127.0.0.1:8600")
		}
		return
	}
	if at, err := address.ParseListener(p.Listen); err == nil && at.IsUnix() {
		fail("listen", "no browser connects to a unix socket; write IP:PORT")
		return
	}
	config, err := p.Listener()
	if err == nil {
		err = config.Check()
	}
	switch {
	case d.Failed(parent + ".listen"):
	case (p.TLS.Certificate == "") != (p.TLS.Key == ""):
		fail("tls", "the keys certificate and key belong together; write both")
	case err != nil:
		fail("listen", "%v", err)
	case p.URL == "" && config.TLS != nil:
		fail("url", "it is missing: the host in the certificate, such as https://agents.example.com")
	case p.URL != "":
		if err := CheckConsoleURL(p.URL); err != nil {
			fail("url", "%v", err)
		}
	}
	for _, text := range p.TrustedProxies {
		if _, err := networkOf(text); err != nil {
			fail("trusted_proxies", "%q: %v", text, err)
		}
	}
	checkConsoleLogin(c, fail)
}

func checkConsoleLogin(c *Config, fail func(key, format string, args ...any)) {
	l := &c.Console.Login
	i := slices.IndexFunc(c.Auth.Issuers, func(known authconfig.Issuer) bool { return known.Issuer == l.Issuer })
	switch {
	case l.Issuer == "" && (l.ClientID != "" || l.ClientSecretFile != "" || len(l.Scopes) > 0):
		fail("login", "the key issuer is missing")
	case l.Issuer == "":
	case l.ClientID == "":
		fail("login", "the key client_id is missing, the name of agentd at the issuer")
	case i < 0:
		fail("login.issuer", "auth.issuers does not have this issuer")
	case !slices.Contains(c.Auth.Issuers[i].Audience, l.ClientID):
		fail("login.client_id", "the audience of the issuer in auth.issuers does not contain %q; add it, because ID tokens are for agentd", l.ClientID)
	case c.Console.URL == "":
		fail("url", "it is missing: the issuer has to know where it sends people")
	}
}
