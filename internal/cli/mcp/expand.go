package mcp

import (
	"fmt"
	"regexp"
	"strings"
)

// expander reads the references to variables in the file of an MCP client: ${NAME}, ${env:NAME}, and
// ${NAME:-DEFAULT}. The client takes their values from its environment.
//
// A reference that is the whole value of a variable stays one: the secret is then the variable of
// toolhost's environment, and its value is copied nowhere. Other texts with references get the values
// of this moment, and are secrets themselves.
type expander struct {
	plugin string
	getenv func(string) string
}

var (
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

// word returns a word of a command. It only expands the home folder: plugin.yaml shows the words, and
// other variables may be secrets.
func (e *expander) word(text string) (string, error) {
	for _, found := range anyReference.FindAllString(text, -1) {
		switch variable, _, _, err := reference(found); {
		case err != nil:
			return "", err
		case variable != "HOME" && variable != "userHome":
			return "", fmt.Errorf("the command has %s, and plugin.yaml would show its value; write the value, or give it to the server in env", found)
		}
	}
	return e.value(text)
}

// secret returns the secret for the value of a variable.
func (e *expander) secret(name, text string) (secret, error) {
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
