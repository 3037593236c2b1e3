package serverpackage

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// settings are what a registry's client gets of the operator's environment: where the registry is,
// how it is reached, and the credential for it.
type settings struct {
	env  []string
	read []string // files that the settings name
}

// environment looks variables up in the operator's environment.
type environment []string

func (e environment) get(name string) string {
	value := ""
	for _, entry := range e {
		if found, ok := strings.CutPrefix(entry, name+"="); ok {
			value = found
		}
	}
	return value
}

// passed are the variables by which programs find proxies and authorities. A proxy may contain a
// credential, which the client needs.
var passed = []string{
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
}

// connection returns the settings that do not depend on the client.
func (e environment) connection() settings {
	var s settings
	for _, name := range passed {
		if value := e.get(name); value != "" {
			s.env = append(s.env, name+"="+s.file(e, value))
		}
	}
	return s
}

// file returns the value of a setting, and permits the client to read the file that it names, if it
// names one.
func (s *settings) file(e environment, value string) string {
	path := strings.TrimPrefix(value, "file://")
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(e.get("HOME"), rest)
	}
	if !strings.ContainsRune(path, '/') || strings.Contains(path, "://") {
		return value
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return value
	}
	if _, err := os.Stat(path); err != nil {
		return value
	}
	if !slices.Contains(s.read, path) {
		s.read = append(s.read, path)
	}
	if strings.HasPrefix(value, "file://") {
		return value
	}
	return path
}

// setting is a line of a configuration file.
type setting struct{ section, key, value string }

// readSettings returns the lines of a configuration file of npm or pip. A file that cannot be read
// has none. In files of pip, an indented line continues the one before.
func readSettings(path string, continued bool) (found []setting) {
	data, err := os.ReadFile(path)
	if err != nil || path == "" {
		return nil
	}
	section := ""
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case continued && (line[0] == ' ' || line[0] == '\t') && len(found) > 0:
			last := &found[len(found)-1]
			last.value = strings.TrimSpace(last.value + " " + text)
		case text[0] == '[' && strings.HasSuffix(text, "]"):
			section = text[1 : len(text)-1]
		default:
			key, value, _ := strings.Cut(text, "=")
			if at := strings.IndexByte(text, ':'); continued && at >= 0 && at < len(key) {
				key, value = text[:at], text[at+1:]
			}
			value = strings.Trim(strings.TrimSpace(value), `"'`)
			found = append(found, setting{section, strings.TrimSpace(key), value})
		}
	}
	return found
}

// ofNPM are the settings of npm that say where a registry is and how it is reached. Those of scopes
// and credentials have other keys.
var ofNPM = []string{"registry", "replace-registry-host", "cafile", "ca", "ca[]", "strict-ssl", "proxy", "http-proxy", "https-proxy", "noproxy", "no-proxy"}

var (
	npmScope      = regexp.MustCompile(`^@[^:/]+:registry$`)
	npmVariable   = regexp.MustCompile(`\$\{([^}]+)\}`)
	npmCredential = regexp.MustCompile(`^(//.*/?):(_authToken|_auth|username|_password|certfile|keyfile)$`)
)

// npm returns the settings of npm, the last of which counts: those of the machine, of the user, and
// of the environment.
func (e environment) npm(node string) (found []setting) {
	named := map[string]string{}
	var own []setting
	for _, entry := range e {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(strings.ToLower(name), "npm_config_") || value == "" {
			continue
		}
		key := name[len("npm_config_"):]
		if !strings.HasPrefix(key, "//") {
			key = strings.ToLower(key[:min(1, len(key))] + strings.ReplaceAll(key[min(1, len(key)):], "_", "-"))
		}
		named[key] = value
		own = append(own, setting{"", key, value})
	}
	machine, user := named["globalconfig"], named["userconfig"]
	if real, err := filepath.EvalSymlinks(node); machine == "" && err == nil {
		machine = filepath.Join(filepath.Dir(filepath.Dir(real)), "etc", "npmrc")
	}
	if user == "" {
		user = filepath.Join(e.get("HOME"), ".npmrc")
	}
	for _, line := range slices.Concat(readSettings("/usr/local/etc/npmrc", false), readSettings(machine, false), readSettings(user, false), own) {
		credential := npmCredential.MatchString(line.key)
		if line.section != "" || !credential && !npmScope.MatchString(line.key) && !slices.Contains(ofNPM, line.key) {
			continue
		}
		line.value = npmVariable.ReplaceAllStringFunc(line.value, func(text string) string {
			return e.get(strings.TrimSuffix(text[2:len(text)-1], "?"))
		})
		found = append(found, line)
	}
	return found
}

// npmrc returns the text of the settings, without the credentials of other registries, and the
// files that it names.
func (e environment) npmrc(all []setting, registries []string) (text []byte, files []string) {
	var s settings
	for _, line := range all {
		if at := npmCredential.FindStringSubmatch(line.key); at != nil && !belongs(at[1], registries) {
			continue
		}
		value := line.value
		if line.key == "cafile" || strings.HasSuffix(line.key, ":certfile") || strings.HasSuffix(line.key, ":keyfile") {
			value = s.file(e, value)
		}
		text = append(text, line.key+"="+value+"\n"...)
	}
	return text, s.read
}

// belongs reports whether npm uses the credentials of a place, such as //host/path/, for one of the
// registries.
func belongs(place string, registries []string) bool {
	return slices.ContainsFunc(registries, func(registry string) bool {
		at, err := url.Parse(registry)
		return err == nil && at.Host != "" && strings.HasPrefix("//"+at.Host+strings.TrimSuffix(at.Path, "/")+"/", strings.TrimSuffix(place, "/")+"/")
	})
}

// ofPip are the settings of pip that say where packages are and how they are reached.
var ofPip = []string{
	"index-url", "extra-index-url", "find-links", "no-index", "trusted-host", "cert", "client-cert", "proxy", "timeout", "default-timeout", "retries",
}

// pip returns the settings of pip, as variables. The credential of an index is in its URL.
func (e environment) pip() settings {
	s := e.connection()
	values := map[string]string{}
	home := e.get("HOME")
	config := e.get("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(home, ".config")
	}
	files := []string{"/etc/xdg/pip/pip.conf", "/etc/pip.conf", filepath.Join(home, ".pip", "pip.conf"), filepath.Join(config, "pip", "pip.conf")}
	switch named := e.get("PIP_CONFIG_FILE"); named {
	case "":
	case os.DevNull:
		files = nil
	default:
		files = append(files, named)
	}
	for _, section := range []string{"global", "install"} {
		for _, file := range files {
			for _, line := range readSettings(file, true) {
				if key := strings.ReplaceAll(strings.ToLower(line.key), "_", "-"); line.section == section && slices.Contains(ofPip, key) {
					values[key] = line.value
				}
			}
		}
	}
	for _, key := range ofPip {
		name := "PIP_" + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
		value := values[key]
		if set := e.get(name); set != "" {
			value = set
		}
		if value == "" {
			continue
		}
		words := strings.Fields(value)
		for i, word := range words {
			words[i] = s.file(e, word)
		}
		s.env = append(s.env, name+"="+strings.Join(words, " "))
	}
	return s
}
