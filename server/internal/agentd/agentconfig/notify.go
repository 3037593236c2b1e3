package agentconfig

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// Notify says what `agentd serve` tells people, and where. See docs/notify.md.
type Notify struct {
	// The targets of messages, under names of your choice.
	Targets map[string]NotifyTarget `yaml:"targets"`
	// Which messages go to which targets. A message goes once to each target that a route names.
	Routes []NotifyRoute `yaml:"routes" is:"route" unset:"nothing is sent" hint:"write each on separate lines, the first after a dash"`
}

// NotifyTarget is a target of messages.
type NotifyTarget struct {
	// The form of the target: `webhook`, signed as Standard Webhooks says; `slack`, the form of
	// Slack's incoming webhooks; `ntfy`; `command`, a program that gets the message as JSON.
	Kind string `yaml:"kind" required:"true" oneof:"webhook,slack,ntfy,command"`
	// The URL, without a secret. For `ntfy` it ends with the topic.
	URL string `yaml:"url" unset:"secret_url"`
	// The place of a URL that is a secret, as for `slack`.
	SecretURL Secret `yaml:"secret_url"`
	// The places of the one or two keys that sign messages of a `webhook`. A second one lets you
	// replace a key while receivers know the old one.
	Keys []Secret `yaml:"keys" is:"place" unset:"none" hint:"write each on separate lines, the first after a dash"`
	// The place of the access token of `ntfy`.
	Token Secret `yaml:"token"`
	// The absolute path of the program of `command`, and its arguments.
	Command []string `yaml:"command" is:"word" unset:"none" hint:"write a list such as [/usr/local/bin/tell, ops]"`
	// Permits private addresses, and those of this host. Without TLS, only those of this host are.
	AllowPrivate bool `yaml:"allow_private" default:"false"`
}

// Secret is the place of a secret. Either Env or File is set, or neither.
type Secret struct {
	// The variable of agentd's environment that holds it.
	Env string `yaml:"env" unset:"the secret is in a file"`
	// The file that holds it. A newline at its end is not part of it.
	File string `yaml:"file" is:"file" unset:"the secret is in a variable"`
}

// Given reports whether the secret has a place.
func (s Secret) Given() bool { return s != Secret{} }

// NotifyRoute says which messages go to which targets. A list that is not set selects all.
type NotifyRoute struct {
	// What is told: a decision waits, it ends soon; a run that a user started failed, or finished; the
	// outcome of a call is unknown; 80 % of a budget are used.
	On []string `yaml:"on" required:"true" is:"kind" oneof:"waiting,ending,failed,finished,unknown,budget" hint:"write a list such as [waiting, failed]"`
	// Runs of these tenants.
	Tenants []string `yaml:"tenants" is:"tenant" unset:"all" hint:"write a list of tenants"`
	// Runs of these agents.
	Agents []string `yaml:"agents" is:"agent" unset:"all" hint:"write a list of names of agents"`
	// Decisions that one of these rules of the policy wants.
	Rules []string `yaml:"rules" is:"rule" unset:"all" hint:"write a list of names of rules"`
	// The targets.
	To []string `yaml:"to" required:"true" is:"target" hint:"write a list of names of targets"`
	// Whether messages have the arguments of the call, the text of the question, or the reason of the
	// failure. A model or a tool wrote it, and all who read the target's messages see it.
	Arguments bool `yaml:"arguments" default:"false"`
	// How long a decision waits until it is told once more.
	Remind time.Duration `yaml:"remind" default:"never" zero:"never" min:"1m"`
}

// checkNotify reports what is wrong with targets and routes.
func checkNotify(d *yamldoc.Decoder, n *Notify) {
	for _, name := range slices.Sorted(maps.Keys(n.Targets)) {
		parent := yamldoc.Join("notify.targets", yamldoc.ShownKey(name))
		target := n.Targets[name]
		if !agentName.MatchString(name) {
			d.Fail(d.At[parent], parent, "the name of a target has 1 to 64 of the characters A-Z a-z 0-9 _ -")
		}
		for key, err := range target.faults() {
			if full := yamldoc.Join(parent, key); !d.Failed(full) && !d.Failed(yamldoc.Join(parent, "kind")) {
				at, given := d.At[full]
				if !given {
					at = d.Keys[parent]
				}
				d.Fail(at, full, "%v", err)
			}
		}
	}
	for i := range n.Routes {
		checkRoute(d, n, fmt.Sprintf("notify.routes[%d]", i), &n.Routes[i])
	}
}

func checkRoute(d *yamldoc.Decoder, n *Notify, parent string, r *NotifyRoute) {
	fail := func(key, format string, args ...any) {
		if full := yamldoc.Join(parent, key); !d.Failed(full) {
			d.Fail(d.At[full], full, format, args...)
		}
	}
	for _, name := range r.To {
		if _, known := n.Targets[name]; !known {
			fail("to", "%q is not a name of notify.targets; %s", name, listed(n.Targets))
		}
	}
	about := func(kind string) bool { return kind == "waiting" || kind == "ending" }
	if i := slices.IndexFunc(r.On, func(kind string) bool { return !about(kind) }); len(r.Rules) > 0 && i >= 0 {
		fail("rules", "only decisions have a rule, and on has %s; write a route of its own for that", r.On[i])
	}
	if r.Remind > 0 && !slices.Contains(r.On, "waiting") {
		fail("remind", "only a decision that waits has a reminder; add waiting to on")
	}
}

// faults returns what is wrong with a target, by the key.
func (t *NotifyTarget) faults() map[string]error {
	faults := map[string]error{}
	needs := func(key string, given bool, kinds ...string) {
		switch wanted := slices.Contains(kinds, t.Kind); {
		case wanted && !given:
			faults[key] = fmt.Errorf("a target of the kind %s needs it", t.Kind)
		case !wanted && given:
			faults[key] = fmt.Errorf("a target of the kind %s has none; remove it", t.Kind)
		}
	}
	needs("keys", len(t.Keys) > 0, "webhook")
	needs("command", len(t.Command) > 0, "command")
	if t.Token.Given() {
		needs("token", true, "ntfy")
	}
	switch {
	case t.Kind == "command":
		needs("url", t.URL != "")
		needs("secret_url", t.SecretURL.Given())
	case t.URL != "" && t.SecretURL.Given():
		faults["url"] = errors.New("secret_url has the URL already; remove one of the two")
	case t.Kind == "slack":
		if t.URL != "" {
			faults["url"] = errors.New("whoever has this URL can write to the channel; put it into a file or a variable, and write secret_url")
		} else {
			needs("secret_url", t.SecretURL.Given(), "slack")
		}
	case t.URL == "" && !t.SecretURL.Given():
		needs("url", false, t.Kind)
	case t.URL != "":
		if err := t.CheckURL(t.URL); err != nil {
			faults["url"] = err
		}
	}
	if len(t.Command) > 0 && !filepath.IsAbs(t.Command[0]) {
		faults["command"] = fmt.Errorf("%q is no absolute path of a program", t.Command[0])
	}
	if len(t.Keys) > 2 {
		faults["keys"] = errors.New("there are more than two keys")
	}
	for key, secret := range t.secrets() {
		if (secret.Env != "") == (secret.File != "") && faults[key] == nil {
			faults[key] = errors.New("write either env and the name of a variable, or file and a path")
		}
	}
	return faults
}

// secrets returns the secrets of a target that the file has, one for each key.
func (t *NotifyTarget) secrets() map[string]Secret {
	secrets := map[string]Secret{}
	if t.SecretURL.Given() {
		secrets["secret_url"] = t.SecretURL
	}
	if t.Token.Given() {
		secrets["token"] = t.Token
	}
	for _, key := range t.Keys {
		if before, given := secrets["keys"]; !given || (before.Env != "") != (before.File != "") {
			secrets["keys"] = key
		}
	}
	return secrets
}

// Files returns the files of secrets and the programs that targets name, by their keys.
func (n *Notify) Files() map[string]string {
	files := map[string]string{}
	for name, t := range n.Targets {
		key := "notify.targets." + name
		if len(t.Command) > 0 {
			files[key+".command"] = t.Command[0]
		}
		for i, secret := range append([]Secret{t.SecretURL, t.Token}, t.Keys...) {
			if secret.File != "" {
				files[key+[]string{".secret_url", ".token", ".keys[0]", ".keys[1]"}[i]] = secret.File
			}
		}
	}
	return files
}

// CheckURL returns why the target cannot have a URL. The error does not show it.
func (t *NotifyTarget) CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("write a URL such as https://HOST/PATH")
	case u.User != nil || text == t.URL && u.RawQuery != "" || u.Fragment != "":
		return errors.New("the URL has a password, a query or a fragment, which may be secret; put it into a file or a variable, and write secret_url, keys or token")
	case u.Scheme == "http" && !isThisHost(u.Hostname()):
		return errors.New("others on the way can read and change what goes there; write https")
	case isThisHost(u.Hostname()) && !t.AllowPrivate:
		return errors.New("the address is one of this host; if it is the right one, set allow_private: true")
	case t.Kind == "ntfy" && (strings.Trim(u.Path, "/") == "" || strings.HasSuffix(u.Path, "/")):
		return errors.New("the URL does not end with a topic; write https://HOST/TOPIC")
	}
	return nil
}

func isThisHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}
