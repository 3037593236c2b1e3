package dashboards

func process() Dashboard {
	const one = `job="$job", instance="$instance"`
	return Dashboard{
		UID: "toolhost-process", Title: "toolhost / one process", Description: "One process of toolhost or agentd: memory, processors, Go's runtime, RPCs and telemetry.",
		Variables: []Variable{
			{Name: "job", Metric: "go_goroutine_count", Label: "job", Single: true},
			{Name: "instance", Metric: "go_goroutine_count", Label: "instance", Selector: `job="$job"`, Single: true},
		},
		Rows: []Row{
			{"Process", []Panel{
				number("Up", Count, "1 if Prometheus reads the metrics.", `up{`+one+`}`),
				number("Started", DateTime, "When the process started.", `1000 * process_start_time_seconds{`+one+`}`),
				{Title: "Version", Kind: Listing, Unit: Count, Width: 16, Description: "The program and its version.", Queries: []Query{{`target_info{` + one + `}`, ""}}},
				lines("Processors", Count, 8, "Processors that the process uses, and the most that Go uses.", Query{`rate(process_cpu_seconds_total{` + one + `}[$__rate_interval])`, "used"}, Query{`go_processor_limit{` + one + `}`, "GOMAXPROCS"}),
				lines("Memory", Bytes, 8, "Resident memory, and what Go's runtime uses.", Query{`process_resident_memory_bytes{` + one + `}`, "resident"}, Query{`sum by (go_memory_type) (go_memory_used_bytes{` + one + `})`, "Go {{go_memory_type}}"}, Query{`go_memory_gc_goal_bytes{` + one + `}`, "goal of the collector"}),
				lines("File descriptors", Count, 8, "Open file descriptors, and the most that the process may open.", Query{`process_open_fds{` + one + `}`, "open"}, Query{`process_max_fds{` + one + `}`, "limit"}),
				lines("Goroutines", Count, 8, "Goroutines of the process.", Query{`go_goroutine_count{` + one + `}`, "goroutines"}),
				lines("Allocations", Bytes, 8, "Memory that is allocated per second.", Query{`rate(go_memory_allocated_bytes_total{` + one + `}[$__rate_interval])`, "bytes"}),
				lines("Objects", PerSecond, 8, "Objects that are allocated per second.", Query{`rate(go_memory_allocations_total{` + one + `}[$__rate_interval])`, "objects"}),
			}},
			{"RPCs", []Panel{
				lines("RPCs by status", PerSecond, 12, "RPCs that have ended.", Query{rate(`grpc_server_call_duration_seconds_count{`+one+`}`, "grpc_method, grpc_status"), "{{grpc_method}} {{grpc_status}}"}),
				lines("Duration", Seconds, 12, "The 95th percentile. A stream lasts as long as its connection.", quantile("grpc_server_call_duration_seconds", one, "0.95", "95 %", "grpc_method")),
			}},
			{"Telemetry", []Panel{
				lines("Exports", Count, 12, "1 if the last export of a signal succeeded.", Query{`{__name__=~"(toolhost|agentd)_telemetry_up", ` + one + `}`, "{{signal}}"}),
				lines("Dropped", Count, 12, "Spans, or exports of all metrics, that were not exported.", Query{`increase({__name__=~"(toolhost|agentd)_telemetry_dropped_total", ` + one + `}[$__rate_interval])`, "{{signal}}"}),
			}},
		},
	}
}
