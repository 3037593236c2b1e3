package mcp

import (
	"fmt"
	"regexp"
	"strings"
)

// expander reads the references to variables in the file of an MCP client: ${NAME}, ${env:NAME},
// ${NAME:-DEFAULT}, and $NAME. The client takes their values from its environment. $NAME has
// capitals and is a word of its own or begins a path, because a dollar sign in a password is none.
//
// A reference that is the whole value of a variable stays one: the secret is then the variable of
// toolhost's environment, and its value is copied nowhere. Other texts with references get the
// values of this moment, and are secrets themselves.
type expander struct {
	plugin string
	getenv func(string) string
}

var (
	bareReference = regexp.MustCompile(`(^|[\s=:,;"'])\$([A-Z_][A-Z0-9_]*)($|[\s=:,;"'/])`)
	anyReference  = regexp.MustCompile(`\$\{[^{}]*\}`)
	environmental = regexp.MustCompile(`^\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-[^{}]*)?\}$`)
)

// reference returns the variable that a reference names. It returns an error for a reference that
// only a client can follow, such as the input of a person.
func reference(text string) (variable, preset string, hasPreset bool, err error) {
	parts := environmental.FindStringSubmatch(text)
	if parts == nil || parts[1] == "workspaceFolder" {
		return "", "", false, fmt.Errorf("toolhost cannot follow %s; write the value, or ${env:NAME} for a variable of the environment", text)
	}
	preset, hasPreset = strings.CutPrefix(parts[2], ":-")
	return parts[1], preset, hasPreset, nil
}

// value returns a text with the present values of its references.
func (e *expander) value(text string) (string, error) {
	var failed error
	expanded := anyReference.ReplaceAllStringFunc(text, func(found string) string {
		variable, preset, hasPreset, err := reference(found)
		value := ""
		if err == nil {
			if variable == "userHome" {
				variable = "HOME"
			}
			if value = e.getenv(variable); value == "" && hasPreset {
				value = preset
			} else if value == "" {
				err = fmt.Errorf("the variable %s is not set here; set it, or write the value", variable)
			}
		}
		if failed == nil {
			failed = err
		}
		return value
	})
	return expanded, failed
}

// braced returns a text with ${NAME} in place of each $NAME.
func braced(text string) string {
	for bareReference.MatchString(text) { // two of them may share the character between them
		text = bareReference.ReplaceAllString(text, "${1}$${${2}}${3}")
	}
	return text
}

// visible returns a text of plugin.yaml: a word of the command, or the URL. It expands the home
// folder, and uses the default of a variable that is not set. Other variables may be secrets.
func (e *expander) visible(what, text string) (string, error) {
	text = braced(text)
	for _, found := range anyReference.FindAllString(text, -1) {
		switch variable, _, hasPreset, err := reference(found); {
		case err != nil:
			return "", err
		case variable != "HOME" && variable != "userHome" && (!hasPreset || e.getenv(variable) != ""):
			return "", fmt.Errorf("the %s has %s, and plugin.yaml would show its value; write the value, or give it to the server in env or in headers", what, found)
		}
	}
	return e.value(text)
}

// secret returns the secret for the value of a variable.
func (e *expander) secret(name, text string) (secret, error) {
	text = braced(text)
	if variable, _, hasPreset, err := reference(text); err == nil && !hasPreset && variable != "userHome" {
		return secret{name: name, variable: variable}, nil
	}
	value, err := e.value(text)
	return secret{name: name, value: value}, err
}

// header returns a header. If all its references are plain, each becomes a secret. Otherwise the
// whole value is one.
func (e *expander) header(name, text string) (header, error) {
	var h header
	text = braced(text)
	found := anyReference.FindAllString(text, -1)
	for _, each := range found {
		variable, _, hasPreset, err := reference(each)
		if err != nil {
			return h, err
		}
		if hasPreset {
			found = nil
			break
		}
		each := secret{name: secretName(e.plugin, variable), variable: variable}
		h.secrets = append(h.secrets, each)
	}
	if len(found) > 0 {
		h.text = anyReference.ReplaceAllStringFunc(text, func(each string) string {
			variable, _, _, _ := reference(each) // it was read without an error before
			return "${secret " + secretName(e.plugin, variable) + "}"
		})
		return h, nil
	}
	value, err := e.value(text)
	whole := secret{name: secretName(e.plugin, name), value: value}
	return header{text: "${secret " + whole.name + "}", secrets: []secret{whole}}, err
}
