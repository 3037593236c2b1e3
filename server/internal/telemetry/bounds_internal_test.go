package telemetry

import (
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/telemetry/telemetryconfig"
)

// Open uses the queues and the timeouts of the environment, and keys of the file precede them.
func TestBoundsByEnvironment(t *testing.T) {
	for name, test := range map[string]struct {
		env     map[string]string
		file    telemetryconfig.Settings
		spans   queue
		timeout time.Duration // of traces
	}{
		"nothing": {spans: queue{2048, 512}, timeout: 10 * time.Second},
		"the environment": {
			env:   map[string]string{"OTEL_BSP_MAX_QUEUE_SIZE": "40", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "30", "OTEL_EXPORTER_OTLP_TIMEOUT": "1500"},
			spans: queue{40, 30}, timeout: 1500 * time.Millisecond,
		},
		"of the signal": {
			env:   map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "1500", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "700"},
			spans: queue{2048, 512}, timeout: 700 * time.Millisecond,
		},
		"the file": {
			env: map[string]string{"OTEL_BSP_MAX_QUEUE_SIZE": "40", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "1500"},
			file: telemetryconfig.Settings{
				Timeout: new(time.Minute), Traces: telemetryconfig.Traces{Queue: new(7)},
			},
			spans: queue{7, 7}, timeout: time.Minute,
		},
	} {
		test.file.Endpoint, test.file.Traces.Enabled = "http://127.0.0.1:1", true
		p, err := planOf(&Config{Settings: test.file, Getenv: func(name string) string { return test.env[name] }})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if p.spans != test.spans || p.traces.timeout != test.timeout {
			t.Errorf("%s: spans %+v, timeout %v", name, p.spans, p.traces.timeout)
		}
	}
}

// A wrong value is an error that names the variable.
func TestWrongBoundsOfTheEnvironment(t *testing.T) {
	for _, variable := range []string{
		"OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
		"OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
	} {
		for _, value := range []string{"0", "-1", "10s", "1e3", "99999999999"} {
			s := telemetryconfig.Settings{Endpoint: "http://127.0.0.1:1", Traces: telemetryconfig.Traces{Enabled: true}}
			_, err := planOf(&Config{Settings: s, Getenv: func(name string) string { return map[string]string{variable: value}[name] }})
			if err == nil || !strings.Contains(err.Error(), variable+" is \""+value+"\"") {
				t.Errorf("%s=%s: %v", variable, value, err)
			}
		}
	}
}
