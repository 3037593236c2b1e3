// Package telemetryconfig defines the section telemetry of toolhost.yaml and agentd.yaml: its keys,
// their defaults, and the checks that concern several keys. Package telemetry applies them.
package telemetryconfig

import (
	"slices"
	"time"
)

// Settings configure what toolhost and agentd tell others about themselves. The comment of a field
// is its documentation.
type Settings struct {
	// The address at which Prometheus reads metrics, with `/metrics`, `/healthz` and `/readyz`.
	// Every program of the machine can read them, also plugins with a network grant.
	Listen string `yaml:"listen" unset:"nothing is served" is:"port" restart:"true"`
	// Allows an address in `listen` that other machines can reach.
	Public bool `yaml:"public" default:"false" restart:"true"`
	// The histograms of `/metrics`: `classic` has fixed buckets; `native` has exact ones, which
	// Prometheus reads if it has native histograms switched on.
	Histograms string `yaml:"histograms" default:"classic" oneof:"classic,native" restart:"true"`
	// The path of a unix socket that serves `/debug/pprof` to this user only.
	Pprof string `yaml:"pprof" is:"file" unset:"nothing is served" restart:"true"`
	// The URL of a collector for all signals that set no own one, such as http://127.0.0.1:4317.
	Endpoint string `yaml:"endpoint" is:"url" unset:"OTEL_EXPORTER_OTLP_ENDPOINT, or nothing is exported" restart:"true"`
	// The protocol of OTLP: gRPC, or protobuf over HTTP.
	Protocol string `yaml:"protocol" oneof:"grpc,http" unset:"OTEL_EXPORTER_OTLP_PROTOCOL, or grpc" restart:"true"`
	// The headers of each request to a collector, by name.
	Headers map[string]Header `yaml:"headers" keys:"header" unset:"OTEL_EXPORTER_OTLP_HEADERS" hint:"a mapping from names of headers to the places of their values" conceal:"this file does not hold values; write env and the name of a variable, or file and a path" restart:"true"`
	// How long one export may take.
	Timeout *time.Duration `yaml:"timeout" min:"1ms" unset:"OTEL_EXPORTER_OTLP_TIMEOUT, or 10s" restart:"true"`
	// The export of traces.
	Traces Traces `yaml:"traces"`
	// The export of metrics.
	Metrics Metrics `yaml:"metrics" restart:"true"`
}

// Files returns the paths that no plugin may access: those of the values of headers, and the socket
// with profiles.
func (s *Settings) Files() []string {
	var files []string
	for _, header := range s.Headers {
		if header.File != "" {
			files = append(files, header.File)
		}
	}
	if s.Pprof != "" {
		files = append(files, s.Pprof)
	}
	slices.Sort(files)
	return files
}

// Header is the place of the value of a header. Either Env or File is set.
type Header struct {
	// The variable of the environment that holds the value. Set either this or `file`.
	Env string `yaml:"env" unset:"the value is in a file"`
	// The file that holds the value; a newline at its end is not part of the value. It is read once,
	// at the start.
	File string `yaml:"file" is:"file" unset:"the value is in the environment"`
}

// Traces configure the export of spans.
type Traces struct {
	// Exports spans if there is an endpoint.
	Enabled bool `yaml:"enabled" default:"true" restart:"true"`
	// The URL of the collector for spans.
	Endpoint string `yaml:"endpoint" is:"url" unset:"the endpoint of all signals, or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" restart:"true"`
	// The share of new traces that are recorded, from 0 to 1.
	SampleRatio *float64 `yaml:"sample_ratio" min:"0" max:"1" unset:"OTEL_TRACES_SAMPLER_ARG, or 1"`
	// Whose decision to record a trace counts: `same_user` that of callers of this user over the
	// unix socket, `all` that of every caller, `none` that of no caller. Other callers get a new
	// trace with a link to theirs.
	TrustCallers string `yaml:"trust_callers" default:"same_user" oneof:"same_user,all,none"`
	// Records the arguments and results of calls, without secrets, in spans.
	Content bool `yaml:"content" default:"false"`
	// The most spans that wait for the collector. Further spans are dropped and counted.
	Queue *int `yaml:"queue" min:"1" max:"1000000" unset:"OTEL_BSP_MAX_QUEUE_SIZE, or 2048" restart:"true"`
}

// Trusts reports whether the sampled flag of a caller takes effect. sameUser means that the caller
// is this user over the unix socket.
func (t *Traces) Trusts(sameUser bool) bool {
	switch t.TrustCallers {
	case "all":
		return true
	case "none":
		return false
	default:
		return sameUser
	}
}

// Metrics configure the export of metrics over OTLP.
type Metrics struct {
	// Exports metrics if there is an endpoint.
	Enabled bool `yaml:"enabled" default:"true" restart:"true"`
	// The URL of the collector for metrics.
	Endpoint string `yaml:"endpoint" is:"url" unset:"the endpoint of all signals, or OTEL_EXPORTER_OTLP_METRICS_ENDPOINT" restart:"true"`
	// The time between two exports.
	Interval *time.Duration `yaml:"interval" min:"1s" unset:"OTEL_METRIC_EXPORT_INTERVAL, or 1m" restart:"true"`
}
