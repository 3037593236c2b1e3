package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/toolhost/toolhost/bench/internal/peer"
	"github.com/toolhost/toolhost/bench/internal/report"
	"github.com/toolhost/toolhost/bench/internal/work"
)

// telemetryCallers is the number of concurrent callers. It is large enough to keep toolhost busy.
const telemetryCallers = 16

// telemetry measures the processor time of a call with telemetry off, with metrics for one reader
// and for two, and with metrics and traces of a tenth of the calls. The time includes that of this
// process, which is also the collector.
func telemetry(ctx context.Context, o options, f *peer.Field, out io.Writer, results *report.Results) error {
	collector, stop, err := swallow()
	if err != nil {
		return err
	}
	defer stop()
	const listen = `listen: "127.0.0.1:0"`
	endpoint := `endpoint: "` + collector + `"`
	var points []point
	for _, level := range []struct{ name, settings string }{
		{"off", ""},
		{"metrics for Prometheus", "telemetry: {" + listen + "}\n"},
		{"metrics by OTLP", "telemetry: {" + endpoint + ", traces: {enabled: false}}\n"},
		{"metrics by both", "telemetry: {" + listen + ", " + endpoint + ", traces: {enabled: false}}\n"},
		{"metrics by OTLP and a tenth of traces", "telemetry: {" + endpoint + ", traces: {sample_ratio: 0.1}}\n"},
	} {
		t, err := f.Toolhost(ctx, peer.House{Settings: level.settings})
		if err != nil {
			return fmt.Errorf("%s: %w", level.name, err)
		}
		c := t.Connect()
		if _, err := turn(ctx, c, work.Small, telemetryCallers, o.length); err != nil { // warms up
			return err
		}
		points = append(points, point{level.name, func(ctx context.Context) (float64, error) {
			s, err := turn(ctx, c, work.Small, telemetryCallers, o.length)
			return float64(s.CPU) / 10_000 / float64(time.Microsecond), err
		}})
	}
	measured, err := curve(ctx, o.rounds, out, "Processor time of a call, by telemetry", "µs", points...)
	results.Curves = append(results.Curves, measured)
	return err
}

// swallow starts a collector that accepts everything and keeps nothing.
func swallow() (url string, stop func(), err error) {
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		if err := stream.RecvMsg(&emptypb.Empty{}); err != nil {
			return err
		}
		return stream.SendMsg(&emptypb.Empty{})
	}))
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(socket) }) // ends with stop
	return "http://" + socket.Addr().String(), func() { server.Stop(); serving.Wait() }, nil
}
