package yamldoc

import (
	"cmp"
	"reflect"
	"strings"
)

// Describe returns what the value of a field has to be, for errors and for the documentation.
func Describe(t reflect.Type, tag reflect.StructTag) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case tag.Get("oneof") != "" && t.Kind() != reflect.Map:
		return alternatives(strings.Split(tag.Get("oneof"), ","))
	case t == typeJSON:
		return "a JSON value"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.String:
		return cmp.Or(texts[tag.Get("is")], "a text")
	case t.Kind() == reflect.Slice:
		return "a list of " + tag.Get("is") + "s"
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.String:
		return "a mapping of names to texts"
	case t.Kind() == reflect.Map || t.Kind() == reflect.Struct:
		return "a mapping"
	}
	what := describeNumber(t, bounds(tag))
	for _, key := range []string{"zero", "auto"} {
		if word := tag.Get(key); word != "" {
			what += "; or " + word
		}
	}
	return what
}

// texts describes the texts with a word in the tag is.
var texts = map[string]string{
	"address":          "an address such as unix:///PATH or 127.0.0.1:PORT",
	"listener":         "an address such as unix:///PATH or 0.0.0.0:8443",
	"server":           "an address such as unix:///PATH or HOST:PORT",
	"node":             "an address such as HOST:PORT or {hostname}.tools.example:7444",
	"servers":          "an address such as unix:///PATH or HOST:PORT, several separated by commas, or dns:///HOST:PORT",
	"url":              "a URL such as http://127.0.0.1:4317",
	"port":             "an address such as 127.0.0.1:9464",
	"name":             "a name",
	"path":             "a path",
	"folder":           "the path of a folder",
	"file":             "the path of a file",
	"database":         "the URL of a PostgreSQL database, such as postgres://USER@HOST/DATABASE",
	"file or database": "the path of a file, or a URL such as postgres://USER@HOST/DATABASE",
}

func describeNumber(t reflect.Type, bounds string) string {
	switch {
	case t == typeDuration:
		return "a duration" + bounds + ", such as 1m30s"
	case t == typeSize:
		return "a size" + bounds + ", in bytes or such as 512MiB"
	case t.Kind() == reflect.Float64:
		return "a number" + bounds
	default:
		return "a whole number" + bounds
	}
}

func bounds(tag reflect.StructTag) string {
	least, most := tag.Get("min"), tag.Get("max")
	switch {
	case most != "":
		return " from " + least + " to " + most
	case least != "":
		return " of at least " + least
	}
	return ""
}

// without returns what happens without a key, for an error.
func without(tag reflect.StructTag) string {
	if unset := tag.Get("unset"); unset != "" {
		return " for " + unset
	}
	if value := tag.Get("default"); value != "" {
		return " for the default, " + value
	}
	return ""
}
