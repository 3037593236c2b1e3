package agentconfig

import (
	"net"
	"strings"

	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
)

// EngineTemporal is the value of Config.Engine for Temporal.
const EngineTemporal = "temporal"

// Temporal is where the service is that `engine: temporal` uses. See docs/temporal.md.
type Temporal struct {
	// The address of its frontend, `HOST:PORT`.
	Address string `yaml:"address" unset:"needed with engine: temporal" restart:"true"`
	// The namespace. It has to exist.
	Namespace string `yaml:"namespace" default:"default" restart:"true"`
	// The task queue of the agentds that share a database. Databases that share a namespace need
	// different ones.
	TaskQueue string `yaml:"task_queue" default:"agentd" restart:"true"`
	// The files of TLS. An address of another host needs `tls` or `api_key`.
	TLS TemporalTLS `yaml:"tls" restart:"true"`
	// The place of the API key. With it, connections have TLS. A file is read again when it changes.
	APIKey Secret `yaml:"api_key" restart:"true"`
	// Permits connections without TLS to another host. Others on the way can then see the ids of runs,
	// tenants and agents, and make agentds try to work on runs.
	Plaintext bool `yaml:"plaintext" default:"false" restart:"true"`
}

// TemporalTLS are the settings of TLS of connections to Temporal.
type TemporalTLS struct {
	// The file with the CAs of the service, in PEM.
	CA string `yaml:"ca" is:"file" unset:"those of the system" restart:"true"`
	// The file with agentd's certificate, in PEM, for mutual TLS. It is read again for each
	// connection.
	Certificate string `yaml:"certificate" is:"file" unset:"none" restart:"true"`
	// The file with the key of the certificate, in PEM.
	Key string `yaml:"key" is:"file" unset:"none" restart:"true"`
	// The name in the certificate of the service.
	ServerName string `yaml:"server_name" unset:"the host of address" restart:"true"`
}

// Secure reports whether connections have TLS.
func (t *Temporal) Secure() bool { return t.TLS != (TemporalTLS{}) || t.APIKey.Given() }

// Files returns the files that the section names, by their keys.
func (t *Temporal) Files() map[string]string {
	files := map[string]string{}
	for key, file := range map[string]string{"tls.ca": t.TLS.CA, "tls.certificate": t.TLS.Certificate, "tls.key": t.TLS.Key, "api_key.file": t.APIKey.File} {
		if file != "" {
			files["temporal."+key] = file
		}
	}
	return files
}

// checkTemporal reports what is wrong with the engine and with the section temporal.
func checkTemporal(d *yamldoc.Decoder, c *Config) {
	fail := func(key, format string, args ...any) {
		if d.Failed(key) {
			return
		}
		at, given := d.At[key]
		if !given {
			at = d.At["engine"]
		}
		d.Fail(at, key, format, args...)
	}
	t := &c.Temporal
	if (t.TLS.Certificate == "") != (t.TLS.Key == "") {
		fail("temporal.tls", "the keys certificate and key belong together; write both")
	}
	if t.APIKey.Given() && (t.APIKey.Env == "") == (t.APIKey.File == "") {
		fail("temporal.api_key", "write either env and the name of a variable, or file and a path")
	}
	if t.Plaintext && t.Secure() {
		fail("temporal.plaintext", "tls and api_key make connections with TLS; remove plaintext, or the two")
	}
	host, _, err := net.SplitHostPort(t.Address)
	switch {
	case t.Address == "":
	case err != nil || host == "":
		fail("temporal.address", "%q is no address such as temporal.example:7233", t.Address)
	case !isThisHost(host) && !t.Secure() && !t.Plaintext:
		fail("temporal.address", "others on the way to %s can read and change what goes there; write tls or api_key, or plaintext: true", host)
	}
	if c.Engine != EngineTemporal {
		return
	}
	if t.Address == "" {
		fail("temporal.address", "engine: temporal needs the address of the service, such as temporal.example:7233")
	}
	if c.Journal != "" && !strings.Contains(c.Journal, "://") {
		fail("engine", "temporal works on runs in a PostgreSQL database; write its URL as journal")
	}
}
