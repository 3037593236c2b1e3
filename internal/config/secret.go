package config

import (
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/toolhost/toolhost/tool"
)

// secrets decodes where each secret is. Whether it is there is seen when a tool needs it.
func (d *decoder) secrets(key string, node ast.Node) {
	if isNull(node) {
		return
	}
	entries, ok := d.entries(key, node)
	if !ok {
		d.fail(placeOf(node), key, "%s is not a mapping from names of secrets to where they are", given(node))
		return
	}
	if len(entries) > 0 {
		d.config.Secrets = make(map[string]Secret, len(entries))
	}
	for _, e := range entries {
		name := join(key, shownKey(e.key))
		if err := tool.CheckName(e.key); err != nil {
			d.fail(e.at, name, "%v", err)
			continue
		}
		if _, mapping := mappingOf(e.value); !mapping { // it may be a value, which no error must show
			d.fail(placeOf(e.value), name, "values do not belong into this file; write env and the name of a variable, or file and a path, and plugins")
			continue
		}
		var secret Secret
		d.structure(reflect.ValueOf(&secret).Elem(), name, e.value)
		d.required(reflect.TypeFor[Secret](), name, e.value)
		d.checkSecret(e, name, secret)
		d.config.Secrets[e.key] = secret
	}
}

// checkSecret reports a secret that is nowhere, in two places, or where nothing can be.
func (d *decoder) checkSecret(e entry, name string, s Secret) {
	env, file := join(name, "env"), join(name, "file")
	at, inEnv := d.at[env]
	_, inFile := d.at[file]
	switch {
	case inEnv && inFile:
		d.fail(at, env, "the value is in one place, and file names another; leave one of them out")
	case !inEnv && !inFile:
		d.fail(e.at, name, "it is not said where the value is; write env and the name of a variable, or file and a path")
	case inEnv && !d.failed(env) && (s.Env == "" || strings.ContainsAny(s.Env, "=\x00")):
		d.fail(at, env, "a variable's name must not be empty or hold = or a zero byte")
	}
}
