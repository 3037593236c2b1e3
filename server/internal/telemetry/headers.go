package telemetry

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
)

// headersOf returns the values of headers, or nil if the file names none.
func headersOf(places map[string]telemetryconfig.Header, getenv func(string) string) (map[string]string, error) {
	if len(places) == 0 {
		return nil, nil
	}
	headers := map[string]string{}
	for name, place := range places {
		value := getenv(place.Env)
		if place.File != "" {
			text, err := os.ReadFile(place.File)
			if err != nil {
				return nil, fmt.Errorf("the header %s: %w", name, err)
			}
			value = strings.TrimRight(string(text), "\r\n")
		}
		if value == "" {
			return nil, fmt.Errorf("the header %s has no value: %s is empty", name, cmp.Or(place.File, place.Env))
		}
		headers[name] = value
	}
	return headers, nil
}

// learnHeaders passes the values of all headers to cfg.Learn: those of the file, and those of the
// environment, which the exporters read themselves. A value such as "Bearer TOKEN" counts as a
// whole and without its first word, because a collector may quote only the token in an error.
func learnHeaders(cfg *Config, headers map[string]string) {
	if cfg.Learn == nil {
		return
	}
	learn := func(name, value string) {
		name = "header " + name
		if _, token, found := strings.Cut(value, " "); found {
			cfg.Learn(name, token)
		}
		cfg.Learn(name, value)
	}
	for name, value := range headers {
		learn(name, value)
	}
	for _, signal := range []string{"", "TRACES_", "METRICS_", "LOGS_"} {
		for pair := range strings.SplitSeq(cfg.Getenv("OTEL_EXPORTER_OTLP_"+signal+"HEADERS"), ",") {
			name, value, _ := strings.Cut(pair, "=")
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
			if decoded, err := url.PathUnescape(value); err == nil && decoded != value {
				learn(name, decoded)
			}
			learn(name, value)
		}
	}
}
