package target

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/internal/address"
	"github.com/toolhost/toolhost/internal/wire/credential"
)

// Local is the name of the target that always exists: the server at the default socket of this
// user.
const Local = "local"

// Target is a server and how to reach it. The zero value of each field but Address is that of
// client.TLS and of the options of package client.
type Target struct {
	Address string `json:"address"` // empty for a fleet
	// Nodes are the servers of a fleet: ADDRESS or NAME=ADDRESS each, or one entry dns:///HOST:PORT.
	// The other settings hold for each of them. Empty: the target is one server.
	Nodes           []string `json:"nodes,omitempty"`
	CA              string   `json:"ca,omitempty"`
	Certificate     string   `json:"cert,omitempty"`
	Key             string   `json:"key,omitempty"`
	ServerName      string   `json:"server_name,omitempty"`
	TokenFile       string   `json:"token_file,omitempty"`
	TokenCommand    string   `json:"token_command,omitempty"`
	AllowPlainToken bool     `json:"allow_plain_token,omitempty"`
}

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// checkName returns an error for a name that a target cannot have.
func checkName(name string) error {
	switch {
	case name == Local:
		return fmt.Errorf("%q is the server at this user's socket; choose another name", Local)
	case !validName.MatchString(name):
		return fmt.Errorf("a target's name has 1 to 63 lower-case letters, digits, dots, hyphens and underscores and begins with a letter or digit; %q does not fit", name)
	}
	return nil
}

// absolute makes the paths of files independent of the current folder.
func (t *Target) absolute() error {
	for _, path := range []*string{&t.CA, &t.Certificate, &t.Key, &t.TokenFile} {
		if *path == "" {
			continue
		}
		full, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = full
	}
	return nil
}

// check returns an error if no client could use the target. With files set, it also reads the files
// of TLS.
func (t Target) check(program string, files bool) error {
	if len(t.Nodes) > 0 {
		return t.checkNodes(program, files)
	}
	at, err := address.ParseServer(t.Address)
	if err != nil {
		return err
	}
	return t.checkAt(program, at, files)
}

// checkNodes is check for a fleet.
func (t Target) checkNodes(program string, files bool) error {
	members, err := parseMembers(t.Nodes)
	if err != nil {
		return err
	}
	for _, m := range members {
		at, with := m.at, t
		if at == (address.Address{}) {
			at, err = address.ParseServer(strings.TrimPrefix(m.text, dnsScheme))
			with = t.verifying(at.Host())
		}
		if err == nil {
			err = with.checkAt(program, at, files)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// checkAt is check for one server of the target.
func (t Target) checkAt(program string, at address.Address, files bool) error {
	if t.TokenFile != "" && t.TokenCommand != "" {
		return errors.New("a target has one source of tokens; leave out --token-file or --token-command")
	}
	resolved, err := t.settings().Resolve(program, at, noEnvironment)
	if err != nil {
		return err
	}
	if files {
		_, err = resolved.Transport(func(error) {})
	}
	return err
}

func noEnvironment(string) string { return "" }

// settings returns the credentials of the target.
func (t Target) settings() credential.Settings {
	s := credential.Settings{AllowPlainToken: t.AllowPlainToken, IgnoreEnvironment: true}
	if files := (credential.TLS{CA: t.CA, Certificate: t.Certificate, Key: t.Key, ServerName: t.ServerName}); files != (credential.TLS{}) {
		s.TLS = &files
	}
	switch {
	case t.TokenFile != "":
		s.Source = credential.File(t.TokenFile)
	case t.TokenCommand != "":
		s.Source = credential.Command(t.TokenCommand)
	}
	return s
}

// options returns the same as settings for package client.
func (t Target) options() []client.DialOption {
	options := []client.DialOption{client.IgnoreEnvironment()}
	if s := t.settings(); s.TLS != nil {
		options = append(options, client.WithTLS(client.TLS(*s.TLS)))
	}
	switch {
	case t.TokenFile != "":
		options = append(options, client.WithTokenFile(t.TokenFile))
	case t.TokenCommand != "":
		options = append(options, client.WithTokenCommand(t.TokenCommand))
	}
	if t.AllowPlainToken {
		options = append(options, client.AllowPlainToken())
	}
	return options
}

// where returns the address of the target, or those of its fleet.
func (t Target) where() string {
	if len(t.Nodes) > 0 {
		return strings.Join(t.Nodes, ", ")
	}
	return t.Address
}

// several returns the addresses of the fleet as client.Dial takes them.
func (t Target) several() string {
	members, err := parseMembers(t.Nodes)
	if err != nil {
		return "" // check has refused it
	}
	var all []string
	for _, m := range members {
		if m.at == (address.Address{}) {
			return m.text
		}
		all = append(all, m.at.String())
	}
	return strings.Join(all, ",")
}

// presents says what the target presents to its server, for a list.
func (t Target) presents() string {
	var words []string
	if t.Certificate != "" {
		words = append(words, "certificate")
	}
	switch {
	case t.TokenFile != "":
		words = append(words, "token from a file")
	case t.TokenCommand != "":
		words = append(words, "token from a command")
	}
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ", ")
}
