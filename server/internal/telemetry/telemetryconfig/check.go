package telemetryconfig

import (
	"errors"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// Checks returns the functions that check a value, by the words that the tags "is" and "keys" of
// Settings use.
func Checks() map[string]func(string) error {
	return map[string]func(string) error{"port": checkPort, "url": checkURL, "header": checkHeader}
}

// checkPort returns why a text is not the address of a TCP port.
func checkPort(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil {
		return errors.New("write HOST:PORT")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return errors.New("a port is a number from 0 to 65535")
	}
	return nil
}

// checkURL returns why a text is not the URL of a collector.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return errors.New("write http://HOST:PORT, or https://HOST:PORT")
	case u.User != nil:
		return errors.New("a password has no place here; use headers")
	}
	return nil
}

// checkHeader returns why a text is not the name of a header.
func checkHeader(name string) error {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	}) {
		return errors.New("the name of a header consists of letters, digits, - and _")
	}
	return nil
}

// Check reports values that are each valid but contradict each other. parent is the key of the
// section.
func Check(d *yamldoc.Decoder, parent string, s *Settings) {
	listen := yamldoc.Join(parent, "listen")
	if at, given := d.At[listen]; given && !d.Failed(listen) && !s.Public && !isLoopback(s.Listen) {
		d.Fail(at, listen, "other machines can reach %s; use a loopback address such as 127.0.0.1:9464, or set public: true", s.Listen)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		checkHeaderPlace(d, yamldoc.Join(yamldoc.Join(parent, "headers"), yamldoc.ShownKey(name)), s.Headers[name])
	}
}

func isLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// checkHeaderPlace reports a header whose value has no source, two sources, or a source that cannot
// exist.
func checkHeaderPlace(d *yamldoc.Decoder, key string, h Header) {
	if d.Failed(key) {
		return
	}
	env := yamldoc.Join(key, "env")
	at, inEnv := d.At[env]
	_, inFile := d.At[yamldoc.Join(key, "file")]
	switch {
	case inEnv && inFile:
		d.Fail(at, env, "the key file names another place of the value; remove one of the two keys")
	case !inEnv && !inFile:
		d.Fail(d.Keys[key], key, "the place of the value is missing; write env and the name of a variable, or file and a path")
	case inEnv && (h.Env == "" || strings.ContainsAny(h.Env, "=\x00")):
		d.Fail(at, env, "a variable's name must not be empty or hold = or a zero byte")
	}
}
