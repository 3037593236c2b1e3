package dashboards

// model has the labels of the name of a model.
const model = "gen_ai_provider_name, gen_ai_request_model"

// modelLegend shows the name of a model as in agentd.yaml.
const modelLegend = "{{gen_ai_provider_name}}:{{gen_ai_request_model}}"

// failed matches the stop reasons of runs that did not do what they were asked and were not stopped
// by a person or a budget.
const failed = `stop_reason=~"call_as_text|content_filter|context_overflow|empty_response|failures|internal_error|max_tokens|model_error|no_tool_calls|repetition|timeouts"`

func agentRuns() Dashboard {
	return Dashboard{
		UID: "toolhost-agent-runs", Title: "toolhost / agent runs", Description: "The runs of agentd: models, calls, decisions of persons and the journal.",
		Variables: servers("agentd_runs"),
		Rows: []Row{
			{"Now", []Panel{
				number("Runs at work", Count, "Runs that work now.", `sum(agentd_runs{state="working", `+here+`})`),
				number("Runs waiting for a person", Count, "Runs that wait for a decision.", `sum(agentd_runs{state="waiting_for_person", `+here+`})`),
				number("Longest wait", Seconds, "How long the run that waits longest has waited for a person.", `max(agentd_runs_longest_wait_seconds{`+here+`})`),
				number("Failed runs", Share, "The share of the runs that ended in the last hour.", `(sum(increase(agentd_runs_finished_total{`+failed+`, `+here+`}[1h])) or vector(0)) / sum(increase(agentd_runs_finished_total{`+here+`}[1h]))`),
				number("Cost in the last hour", Count, "In the unit of the configured prices.", `sum(increase(agentd_cost_total{`+here+`}[1h]))`),
				number("Free disk", Share, "The file system of the journal.", `min(agentd_disk_free_bytes{`+here+`} / agentd_disk_size_bytes{`+here+`})`),
				number("Failed writes", Count, "Writes to the journal that failed in the last hour.", `sum(increase(agentd_journal_failures_total{`+here+`}[1h]))`),
			}},
			{"Runs", []Panel{
				lines("Runs that ended", Count, 12, "By stop reason; without sub-runs.", Query{`sum by (stop_reason) (increase(agentd_runs_finished_total{sub_run="false", ` + here + `}[$__rate_interval])) > 0 or sum(increase(agentd_runs_finished_total{` + here + `}[$__rate_interval]))`, "{{stop_reason}}"}),
				lines("Runs", Count, 12, "Runs of this process, by state.", Query{`sum by (state) (agentd_runs{` + here + `})`, "{{state}}"}),
				lines("Work", Seconds, 12, "How long runs worked without waiting for a person.", quantiles("agentd_run_work_duration_seconds", here, "")...),
				lines("Questions to persons", Count, 12, "By type.", Query{`sum by (type) (increase(agentd_decisions_total{` + here + `}[$__rate_interval]))`, "{{type}}"}),
			}},
			{"Models", []Panel{
				lines("Responses", PerSecond, 12, "Responses of models that runs have used.", Query{rate(`agentd_turns_total{`+here+`}`, model), modelLegend}),
				lines("Failed requests and retries", PerSecond, 12, "Requests that failed in spite of their retries, and the retries.",
					Query{rate(`agentd_model_failures_total{`+here+`}`, model+", error_type"), modelLegend + " {{error_type}}"},
					Query{rate(`agentd_model_retries_total{`+here+`}`, model), modelLegend + " retries"}),
				lines("Duration of requests", Seconds, 12, "With their retries.", quantiles("gen_ai_client_operation_duration_seconds", here, "gen_ai_request_model")...),
				lines("Time to first chunk", Seconds, 12, "From a request until the model began to answer.", quantiles("gen_ai_client_operation_time_to_first_chunk_seconds", here, "gen_ai_request_model")...),
				lines("Tokens", PerSecond, 12, "By type.", Query{rate(`gen_ai_client_token_usage_sum{`+here+`}`, "gen_ai_request_model, gen_ai_token_type"), "{{gen_ai_request_model}} {{gen_ai_token_type}}"}),
				lines("Cost", Count, 12, "Per hour, in the unit of the configured prices.", Query{"3600 * " + rate(`agentd_cost_total{`+here+`}`, model), modelLegend}),
			}},
			{"Calls and journal", []Panel{
				lines("Calls by outcome", PerSecond, 12, "Calls of tools.", Query{rate(`agentd_calls_total{`+here+`}`, "tool, outcome"), "{{tool}} {{outcome}}"}),
				lines("Duration of calls", Seconds, 12, "From the sending of a call until its result is in the journal: the 95th percentile.", quantile("agentd_call_duration_seconds", here, "0.95", "95 %", "tool")),
				lines("Writes to the journal", Seconds, 12, "How long they took.", quantiles("agentd_journal_append_duration_seconds", here, "outcome")...),
				lines("Size of the journal", Bytes, 12, "The files of the journal.", Query{`agentd_journal_size_bytes{` + here + `}`, "{{instance}}"}),
			}},
		},
	}
}
