package dashboards

func plugin() Dashboard {
	const one = `plugin="$plugin", ` + here
	return Dashboard{
		UID: "toolhost-plugin", Title: "toolhost / one plugin", Description: "One plugin with its tools and processes.",
		Variables: append(servers("toolhost_plugin_state"), Variable{Name: "plugin", Metric: "toolhost_plugin_state", Label: "plugin", Selector: here, Single: true}),
		Rows: []Row{
			{"Now", []Panel{
				{Title: "State", Kind: Listing, Unit: Count, Width: 8, Description: "The state of the plugin in each toolhost.", Queries: []Query{{`toolhost_plugin_state{` + one + `} == 1`, ""}}},
				number("Instances", Count, "Processes that take calls.", `sum(toolhost_instances{state="ready", `+one+`}) or vector(0)`),
				number("Calls in progress", Count, "Calls that its processes execute.", `sum(toolhost_calls_running{`+one+`})`),
				number("Crashes in 24 hours", Count, "Processes that ended by themselves.", `sum(increase(toolhost_plugin_events_total{type="instance_crashed", `+one+`}[24h]))`),
				number("Failed launches in 24 hours", Count, "Processes that did not get to take calls.", `sum(increase(toolhost_launches_failed_total{`+one+`}[24h]))`),
			}},
			{"Calls", []Panel{
				lines("Calls by outcome", PerSecond, 12, "ok, tool_error, or the kind of an error.", Query{rate(`toolhost_calls_total{`+one+`}`, "tool, outcome"), "{{tool}} {{outcome}}"}),
				lines("Duration", Seconds, 12, "From the arrival of a call to its outcome.", quantiles("toolhost_call_duration_seconds", one, "tool")...),
				lines("Waiting for an instance", Seconds, 12, "From the arrival of a call until an instance got it.", quantiles("toolhost_call_wait_seconds", one, "")...),
				lines("Queue", Count, 12, "Calls that wait for an instance, and the most that may wait.", Query{`toolhost_calls_queued{` + one + `}`, "queued {{instance}}"}, Query{`toolhost_calls_queue_limit{` + one + `}`, "limit {{instance}}"}),
				lines("Cold starts", PerSecond, 12, "Calls that waited for the launch of a process.", Query{rate(`toolhost_cold_starts_total{`+one+`}`, "tool"), "{{tool}}"}),
				lines("Retries", PerSecond, 12, "Attempts after the first one of a call.", Query{rate(`toolhost_call_retries_total{`+one+`}`, "tool"), "{{tool}}"}),
			}},
			{"Processes", []Panel{
				lines("Instances", Count, 12, "Processes, by state.", Query{`sum by (state) (toolhost_instances{` + one + `})`, "{{state}}"}),
				lines("Exits", Count, 12, "Processes that have ended, by reason.", Query{`sum by (type) (increase(toolhost_instance_exits_total{` + one + `}[$__rate_interval]))`, "{{type}}"}),
				lines("Memory", Bytes, 12, "Resident memory of the processes.", Query{`toolhost_plugin_memory_bytes{` + one + `}`, "{{instance}}"}),
				lines("Processors", Count, 12, "Processors that the processes use.", Query{rate(`toolhost_plugin_cpu_seconds_total{`+one+`}`, "instance"), "{{instance}}"}),
				lines("Launches", Seconds, 12, "From the decision to launch a process until it takes calls.", quantiles("toolhost_launch_duration_seconds", one, "")...),
				lines("Events", Count, 12, "Events, as in `toolhost events`.", Query{`sum by (type) (increase(toolhost_plugin_events_total{` + one + `}[$__rate_interval]))`, "{{type}}"}),
			}},
		},
	}
}
