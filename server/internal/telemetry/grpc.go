package telemetry

import (
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats/opentelemetry"
)

// ServerOptions returns the options with which a gRPC server reports gRPC's own metrics of its
// RPCs; nil if there are no metrics. The method label is a method that the server serves, or
// "other".
func (t *Telemetry) ServerOptions() []grpc.ServerOption {
	if t == nil || t.meters == nil {
		return nil
	}
	return []grpc.ServerOption{opentelemetry.ServerOption(opentelemetry.Options{
		MetricsOptions: opentelemetry.MetricsOptions{MeterProvider: t.meters},
	})}
}
