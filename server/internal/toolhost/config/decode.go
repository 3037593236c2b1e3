package config

import (
	"errors"
	"reflect"
	"strings"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/sdk/egress"
	"github.com/toolhost/toolhost/server/internal/access/authconfig"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
	"github.com/toolhost/toolhost/server/internal/text/yamldoc"
	"github.com/toolhost/toolhost/server/internal/toolhost/proc"
	"github.com/toolhost/toolhost/tool"
)

// decoder decodes one toolhost.yaml into config, and checks what concerns several keys.
type decoder struct {
	*yamldoc.Decoder
	config *Config
}

func newDecoder(path string, c *Config) decoder {
	d := decoder{yamldoc.NewDecoder(path), c}
	d.MaxBytes = yamldoc.MaxConfigBytes
	d.Checks = telemetryconfig.Checks()
	d.Checks["variable"], d.Checks["qualified"] = checkVariable, checkToolKey
	d.Checks["principal"], d.Checks["tenant"], d.Checks["tenant_name"] = checkPrincipal, checkTenantKey, identity.CheckTenant
	d.Checks["word"] = func(string) error { return nil }
	d.Checks["listener"] = authconfig.CheckListener
	d.Checks["database"] = postgres.CheckPublic
	d.Checks["subsystem"] = loglevel.OfToolhost().Check
	d.Checks["address range"] = func(text string) error { _, err := egress.ParseGrant(text); return err }
	d.New = func(t reflect.Type) (start reflect.Value) {
		if t == reflect.TypeFor[PluginSettings]() {
			start = reflect.ValueOf(c.Defaults.clone()) // decoded before: the field is before ByPlugin
		}
		return start
	}
	return d
}

// checkVariable returns an error if the operator cannot give a plugin an environment variable with
// that name.
func checkVariable(name string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return errors.New("a variable's name must not be empty or hold = or a zero byte")
	case strings.HasPrefix(name, "PLUGIN_") || name == proc.MarkName:
		return errors.New("only toolhost sets this variable")
	}
	return nil
}

// checkToolKey returns why a text is neither TOOL nor PLUGIN.TOOL.
func checkToolKey(key string) error {
	plugin, name, qualified := strings.Cut(key, ".")
	if err := tool.CheckName(plugin); err != nil || !qualified {
		return err
	}
	return tool.CheckName(name)
}
