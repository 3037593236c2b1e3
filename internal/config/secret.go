package config

import (
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/toolhost/toolhost/internal/settings"
	"github.com/toolhost/toolhost/tool"
)

// secrets decodes where each secret is. Whether it is there is seen when a tool needs it.
func (d *decoder) secrets(key string, node ast.Node) {
	if settings.IsNull(node) {
		return
	}
	entries, ok := d.Entries(key, node)
	if !ok {
		d.Fail(settings.PlaceOf(node), key, "%s is not a mapping from names of secrets to where they are", settings.Given(node))
		return
	}
	if len(entries) > 0 {
		d.config.Secrets = make(map[string]Secret, len(entries))
	}
	for _, e := range entries {
		name := settings.Join(key, settings.ShownKey(e.Key))
		if err := tool.CheckName(e.Key); err != nil {
			d.Fail(e.At, name, "%v", err)
			continue
		}
		if _, mapping := settings.MappingOf(e.Value); !mapping { // it may be a value, which no error must show
			d.Fail(settings.PlaceOf(e.Value), name, "values do not belong into this file; write env and the name of a variable, or file and a path, and plugins")
			continue
		}
		var secret Secret
		d.Structure(reflect.ValueOf(&secret).Elem(), name, e.Value)
		d.Required(reflect.TypeFor[Secret](), name, e.Value)
		d.checkSecret(e, name, secret)
		d.config.Secrets[e.Key] = secret
	}
}

// checkSecret reports a secret that is nowhere, in two places, or where nothing can be.
func (d *decoder) checkSecret(e settings.Entry, name string, s Secret) {
	env, file := settings.Join(name, "env"), settings.Join(name, "file")
	at, inEnv := d.At[env]
	_, inFile := d.At[file]
	switch {
	case inEnv && inFile:
		d.Fail(at, env, "the value is in one place, and file names another; leave one of them out")
	case !inEnv && !inFile:
		d.Fail(e.At, name, "it is not said where the value is; write env and the name of a variable, or file and a path")
	case inEnv && !d.Failed(env) && (s.Env == "" || strings.ContainsAny(s.Env, "=\x00")):
		d.Fail(at, env, "a variable's name must not be empty or hold = or a zero byte")
	}
}
