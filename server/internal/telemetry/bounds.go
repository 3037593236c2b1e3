package telemetry

import (
	"cmp"
	"fmt"
	"strconv"
	"time"
)

const (
	// The defaults of OpenTelemetry's specification.
	defaultTimeout = 10 * time.Second
	defaultQueue   = 2048
	defaultBatch   = 512

	// maxQueue and maxTimeout bound the values of the environment. The configuration file has the
	// same bound for queues.
	maxQueue   = 1_000_000
	maxTimeout = time.Hour
)

// queue bounds the spans that wait for a collector.
type queue struct {
	most  int // that wait
	batch int // in one export
}

// queueOf returns the queue of spans.
func queueOf(cfg *Config) (q queue, err error) {
	if given := cfg.Traces.Queue; given != nil {
		q.most = *given
	} else if q.most, err = numberOf(cfg, "OTEL_BSP_MAX_QUEUE_SIZE", defaultQueue, maxQueue); err != nil {
		return q, err
	}
	q.batch, err = numberOf(cfg, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", defaultBatch, maxQueue)
	q.batch = min(q.batch, q.most)
	return q, err
}

// timeoutOf returns how long one export of a signal may take.
func timeoutOf(cfg *Config, signal string) (time.Duration, error) {
	if cfg.Timeout != nil {
		return *cfg.Timeout, nil
	}
	name := "OTEL_EXPORTER_OTLP_" + signal + "_TIMEOUT"
	if cfg.Getenv(name) == "" {
		name = "OTEL_EXPORTER_OTLP_TIMEOUT"
	}
	n, err := numberOf(cfg, name, int(defaultTimeout.Milliseconds()), int(maxTimeout.Milliseconds()))
	return time.Duration(n) * time.Millisecond, err
}

// numberOf returns the number in a variable of the environment, from 1 to most.
func numberOf(cfg *Config, variable string, unset, most int) (int, error) {
	text := cfg.Getenv(variable)
	n, err := strconv.Atoi(cmp.Or(text, strconv.Itoa(unset)))
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%s is %q; use a whole number from 1 to %d", variable, text, most)
	}
	return n, nil
}
