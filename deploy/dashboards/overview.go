package dashboards

// here selects the instances of toolhost that the reader chose.
const here = `job=~"$job", instance=~"$instance"`

// failures matches the outcomes of calls for which toolhost or a plugin is responsible, not the
// caller and not the tool.
const failures = `outcome=~"crashed|internal|outcome_unknown|timeout|unavailable"`

// servers are the variables that choose instances of a program by one of its metrics.
func servers(metric string) []Variable {
	return []Variable{
		{Name: "job", Metric: metric, Label: "job"},
		{Name: "instance", Metric: metric, Label: "instance", Selector: `job=~"$job"`},
	}
}

func overview() Dashboard {
	return Dashboard{
		UID: "toolhost-overview", Title: "toolhost / overview", Description: "All plugins and calls of toolhost.",
		Variables: servers("toolhost_ledger_calls"),
		Rows: []Row{
			{"Now", []Panel{
				number("Alerts", Count, "Alerts of deploy/prometheus that fire.", `count(ALERTS{alertname=~"Toolhost.*", alertstate="firing"}) or vector(0)`),
				number("Plugins in quarantine", Count, "Plugins that toolhost does not start because they crashed too often.", `sum(toolhost_plugin_state{state="quarantined", `+here+`}) or vector(0)`),
				number("Calls per second", PerSecond, "Calls that have ended.", `sum(rate(toolhost_calls_total{`+here+`}[$__rate_interval]))`),
				number("Failing calls", Share, "The share of calls that did not end with a result of the tool, because of toolhost or the plugin.", `(sum(rate(toolhost_calls_total{`+failures+`, `+here+`}[$__rate_interval])) or vector(0)) / sum(rate(toolhost_calls_total{`+here+`}[$__rate_interval]))`),
				number("Calls for approval", Count, "Calls whose final arguments are kept for an approval.", `sum(toolhost_approvals_waiting{`+here+`})`),
				number("Free disk", Share, "The file system of the state folder.", `min(toolhost_disk_free_bytes{`+here+`} / toolhost_disk_size_bytes{`+here+`})`),
			}},
			overviewCalls(), overviewFleet(), overviewPlugins(), overviewStores(),
		},
	}
}

func overviewCalls() Row {
	return Row{"Calls", []Panel{
		lines("Calls by outcome", PerSecond, 12, "ok, tool_error, or the kind of an error.", Query{rate(`toolhost_calls_total{`+here+`}`, "outcome"), "{{outcome}}"}),
		lines("Duration", Seconds, 12, "From the arrival of a call to its outcome.", quantiles("toolhost_call_duration_seconds", here, "")...),
		lines("Busiest tools", PerSecond, 12, "The ten tools with the most calls.", Query{"topk(10, " + rate(`toolhost_calls_total{`+here+`}`, "tool") + ")", "{{tool}}"}),
		lines("Slowest tools", Seconds, 12, "The ten tools with the largest 95th percentile of the duration.", Query{"topk(10, " + quantile("toolhost_call_duration_seconds", here, "0.95", "", "tool").Expr + ")", "{{tool}}"}),
		lines("Failing calls by tool", PerSecond, 12, "Calls that did not end with a result of the tool, because of toolhost or the plugin.", Query{rate(`toolhost_calls_total{`+failures+`, `+here+`}`, "tool, outcome"), "{{tool}} {{outcome}}"}),
		lines("Waiting for an instance", Seconds, 12, "From the arrival of a call until an instance got it.", quantiles("toolhost_call_wait_seconds", here, "")...),
		lines("Refused calls", PerSecond, 12, "Calls that could not begin, such as those of an unknown tool.", Query{rate(`toolhost_calls_refused_total{`+here+`}`, "outcome"), "{{outcome}}"}),
		lines("Policy decisions", PerSecond, 12, "Decisions about calls, by outcome and rule.", Query{rate(`toolhost_policy_decisions_total{`+here+`}`, "outcome, rule"), "{{outcome}} {{rule}}"}),
		lines("Filters", Seconds, 12, "How long filters took: the 95th percentile.", quantile("toolhost_filter_duration_seconds", here, "0.95", "95 %", "tool")),
		lines("Cost of tools", Count, 12, "The cost that tools reported, per hour.", Query{"3600 * " + rate(`toolhost_call_cost_total{`+here+`}`, "tool"), "{{tool}}"}),
	}}
}

// overviewFleet compares the toolhosts of a fleet.
func overviewFleet() Row {
	return Row{"Toolhosts", []Panel{
		lines("Calls by toolhost", PerSecond, 12, "Calls that have ended.", Query{rate(`toolhost_calls_total{`+here+`}`, "instance"), "{{instance}}"}),
		lines("Failing calls by toolhost", PerSecond, 12, "Calls that did not end with a result of the tool, because of toolhost or the plugin.", Query{rate(`toolhost_calls_total{`+failures+`, `+here+`}`, "instance"), "{{instance}}"}),
	}}
}

func overviewPlugins() Row {
	return Row{"Plugins", []Panel{
		lines("Crashes", Count, 12, "Processes that ended by themselves.", Query{`sum by (plugin) (increase(toolhost_plugin_events_total{type="instance_crashed", ` + here + `}[$__rate_interval]))`, "{{plugin}}"}),
		lines("Plugins out of service", Count, 12, "Plugins that are paused, back off, are in quarantine or are disabled.", Query{`sum by (plugin, state) (toolhost_plugin_state{state!="enabled", ` + here + `}) > 0 or sum by (state) (toolhost_plugin_state{state!="enabled", ` + here + `})`, "{{plugin}} {{state}}"}),
		lines("Queue", Share, 12, "Calls that wait for an instance, as a share of the limit of the plugin's queue.", Query{`max by (plugin) (toolhost_calls_queued{` + here + `} / toolhost_calls_queue_limit{` + here + `})`, "{{plugin}}"}),
		lines("Launches", Seconds, 12, "From the decision to launch an instance until it takes calls: the 95th percentile.", quantile("toolhost_launch_duration_seconds", here, "0.95", "95 %", "plugin")),
		lines("Failed launches", Count, 12, "Processes that did not get to take calls.", Query{`sum by (plugin) (increase(toolhost_launches_failed_total{` + here + `}[$__rate_interval]))`, "{{plugin}}"}),
		lines("Instances", Count, 12, "Processes of plugins, by state.", Query{`sum by (plugin, state) (toolhost_instances{` + here + `})`, "{{plugin}} {{state}}"}),
		lines("Memory", Bytes, 12, "Resident memory of a plugin's processes.", Query{`sum by (plugin) (toolhost_plugin_memory_bytes{` + here + `})`, "{{plugin}}"}),
		lines("Processors", Count, 12, "Processors that a plugin's processes use.", Query{rate(`toolhost_plugin_cpu_seconds_total{`+here+`}`, "plugin"), "{{plugin}}"}),
	}}
}

func overviewStores() Row {
	return Row{"Stores", []Panel{
		lines("Ledger on disk", Share, 8, "Ids of calls with side effects, as a share of the limit. At the limit, toolhost refuses such calls.", Query{`toolhost_ledger_ids{` + here + `} / toolhost_ledger_id_limit{` + here + `}`, "{{instance}}"}),
		lines("Free disk", Bytes, 8, "The file system of the state folder.", Query{`toolhost_disk_free_bytes{` + here + `}`, "{{instance}}"}),
		lines("Artifacts", Bytes, 8, "Large results that toolhost stores.", Query{`toolhost_artifacts_size_bytes{` + here + `}`, "{{instance}}"}),
		lines("Memory of calls", Bytes, 8, "Memory of calls in flight, and of outcomes that the ledger has in memory.", Query{`toolhost_memory_in_flight_bytes{` + here + `}`, "in flight {{instance}}"}, Query{`toolhost_ledger_size_bytes{` + here + `}`, "ledger {{instance}}"}),
		lines("Calls in memory", Count, 8, "Calls that the ledger has in memory.", Query{`toolhost_ledger_calls{` + here + `}`, "{{instance}}"}),
		lines("Artifacts, number", Count, 8, "Large results that toolhost stores.", Query{`toolhost_artifacts{` + here + `}`, "{{instance}}"}),
	}}
}
