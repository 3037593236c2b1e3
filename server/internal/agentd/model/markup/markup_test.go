package markup_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model/markup"
)

// calls are responses that are a call of calculator, in the markup of models: of their chat
// templates, of the parsers of vLLM, SGLang and llama.cpp, and of hermes-agent#35129 and
// vllm#50768.
var calls = map[string]string{
	"hermes":                    "<tool_call>\n{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}\n</tool_call>",
	"hermes, not closed":        "<tool_call>\n{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}",
	"hermes, broken":            "<tool_call>\n{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}\n</tool_call>",
	"hermes after words":        "I will calculate it.\n\n<tool_call>\n{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}\n</tool_call>",
	"hermes with an invention":  "Let me see.\n<tool_call>\n{\"name\": \"calculator\", \"arguments\": {}}\n</tool_call>\nThe result is 7.",
	"hermes after thoughts":     "<think>\nI need it.\n</think>\n<tool_call>\n{\"name\": \"calculator\", \"arguments\": {}}\n</tool_call>",
	"hermes of an unknown tool": "<tool_call>\n{\"name\": \"web_search\", \"arguments\": {}}\n</tool_call>",
	"qwen coder":                "<tool_call>\n<function=calculator>\n<parameter=expression>\n2+3\n</parameter>\n</function>\n</tool_call>",
	"qwen coder, half":          "<function=calculator>\n<parameter=expression>\n2+3\n</parameter>\n</function>\n</tool_call>",
	"qwen 2.5 coder":            "<tools>\n{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}\n</tools>",
	"qwen-agent":                "✿FUNCTION✿: calculator\n✿ARGS✿: {\"expression\": \"2+3\"}",
	"llama":                     "<|python_tag|>calculator.call(expression=\"2+3\")",
	"llama, json":               "{\"name\": \"calculator\", \"parameters\": {\"expression\": \"2+3\"}}",
	"llama, json with a type":   "{\"type\": \"function\", \"name\": \"calculator\", \"parameters\": {\"expression\": \"2+3\"}}",
	"llama, function":           "<function=calculator>{\"expression\": \"2+3\"}</function>",
	"llama 4":                   "[calculator(expression=\"2+3\")]",
	"llama, method":             "calculator.call(expression=\"2+3\")",
	"openai":                    "{\"id\": \"c1\", \"type\": \"function\", \"function\": {\"name\": \"calculator\", \"arguments\": \"{}\"}}",
	"deepseek":                  "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>calculator\n```json\n{\"expression\": \"2+3\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
	"deepseek 3.1":              "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>calculator<｜tool▁sep｜>{\"expression\": \"2+3\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
	"deepseek after words":      "I will calculate.<br>\n<｜tool▁call▁begin｜>calculator<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
	"deepseek 3.2":              "<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"calculator\">\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
	"mistral":                   "[TOOL_CALLS]calculator[ARGS]{\"expression\": \"2+3\"}",
	"mistral, list":             "[TOOL_CALLS] [{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}]",
	"glm":                       "<tool_call>calculator\n<arg_key>expression</arg_key>\n<arg_value>2+3</arg_value>\n</tool_call>",
	"glm 4":                     "calculator\n{\"expression\": \"2+3\"}",
	"kimi":                      "<|tool_calls_section_begin|><|tool_call_begin|>functions.calculator:0<|tool_call_argument_begin|>{\"expression\": \"2+3\"}<|tool_call_end|><|tool_calls_section_end|>",
	"kimi, half":                "functions.calculator:0\n{\"expression\": \"2+3\"}",
	"harmony":                   "<|channel|>commentary to=functions.calculator <|constrain|>json<|message|>{\"expression\": \"2+3\"}<|call|>",
	"harmony, whole":            "<|start|>assistant<|channel|>commentary to=functions.calculator<|message|>{\"expression\": \"2+3\"}<|call|>",
	"harmony without tokens":    "commentary to=functions.calculator json{\"expression\": \"2+3\"}",
	"gemma":                     "```tool_code\ncalculator(expression=\"2+3\")\n```",
	"gemma after words":         "I will calculate it:\n\n```tool_code\nprint(calculator(expression=\"2+3\"))\n```",
	"functiongemma":             "<start_function_call>call:calculator{expression:<escape>2+3<escape>}<end_function_call>",
	"gemma 4":                   "<|tool_call>call:calculator{expression:<|\"|>2+3<|\"|>}<tool_call|>",
	"gemini":                    "print(default_api.calculator(expression=\"2+3\"))",
	"gemini, call":              "call:default_api:calculator{expression:\"2+3\"}",
	"gemini, tool_code":         "<tool_code>\nprint(calculator(expression='2+3'))\n</tool_code>",
	"minimax":                   "<minimax:tool_call>\n<invoke name=\"calculator\">\n<parameter name=\"expression\">2+3</parameter>\n</invoke>\n</minimax:tool_call>",
	"minimax, other":            "[TOOL_CALL]\n{tool => \"calculator\", args => {--expression \"2+3\"}}\n[/TOOL_CALL]",
	"claude":                    "<function_calls>\n<invoke name=\"calculator\">\n<parameter name=\"expression\">2+3</parameter>\n</invoke>\n</function_calls>",
	"claude, half":              "<invoke name=\"calculator\">\n<parameter name=\"expression\">2+3</parameter>\n</invoke>",
	"olmo 3":                    "<function_calls>\ncalculator(expression=\"2+3\")\n</function_calls>",
	"glaive":                    "<functioncall> {\"name\": \"calculator\", \"arguments\": '{\"expression\": \"2+3\"}'}",
	"granite":                   "<|tool_call|>[{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}]",
	"granite 4":                 "<tool_call>[{\"name\": \"calculator\", \"arguments\": {}}]",
	"phi 4":                     "<|tool_call|>[{\"type\": \"function\", \"name\": \"calculator\"}]<|/tool_call|>",
	"phi 4 mini":                "functools[{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}]",
	"jamba":                     "<tool_calls>[\n{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}\n]</tool_calls>",
	"lfm2":                      "<|tool_call_start|>[calculator(expression=\"2+3\")]<|tool_call_end|>",
	"doubao":                    "<|FunctionCallBegin|>[{\"name\":\"calculator\",\"parameters\":{\"expression\":\"2+3\"}}]<|FunctionCallEnd|>",
	"seed":                      "<seed:tool_call>\n<function=calculator>\n<parameter=expression>2+3</parameter>\n</function>\n</seed:tool_call>",
	"internlm":                  "<|action_start|><|plugin|>\n{\"name\": \"calculator\", \"parameters\": {\"expression\": \"2+3\"}}<|action_end|>",
	"functionary":               "<|from|>assistant\n<|recipient|>calculator\n<|content|>{\"expression\": \"2+3\"}",
	"functionary 3":             ">>>calculator\n{\"expression\": \"2+3\"}",
	"command r":                 "Action: ```json\n[\n  {\n    \"tool_name\": \"calculator\",\n    \"parameters\": {\"expression\": \"2+3\"}\n  }\n]```",
	"command a":                 "<|START_ACTION|>[\n  {\"tool_call_id\": \"0\", \"tool_name\": \"calculator\", \"parameters\": {}}\n]<|END_ACTION|>",
	"step 3":                    "<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name=\"calculator\"></steptml:invoke>",
	"longcat":                   "<longcat_tool_call>calculator\n<longcat_arg_key>expression</longcat_arg_key>\n</longcat_tool_call>",
	"nemotron":                  "<TOOLCALL>[{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}]</TOOLCALL>",
	"xlam":                      "[{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}]",
	"lm studio":                 "[TOOL_REQUEST]{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}[END_TOOL_REQUEST]",
	"cline":                     "<calculator>\n<expression>2+3</expression>\n</calculator>",
	"cline, mcp":                "<use_mcp_tool>\n<tool_name>calculator</tool_name>\n</use_mcp_tool>",
	"tool with a name":          "<tool name=\"calculator\">{\"expression\": \"2+3\"}</tool>",
	"react":                     "Thought: I have to calculate.\nAction: calculator\nAction Input: {\"expression\": \"2+3\"}",
	"langchain":                 "```json\n{\n  \"action\": \"calculator\",\n  \"action_input\": {\"expression\": \"2+3\"}\n}\n```",
	"json in a block":           "```json\n{\"name\": \"calculator\", \"arguments\": {\"expression\": \"2+3\"}}\n```",
	"json, other names":         "{\"tool\": \"calculator\", \"args\": {\"expression\": \"2+3\"}}",
	"json, arguments first":     "{\"arguments\": {\"expression\": \"2+3\"}, \"name\": \"calculator\"}",
	"python":                    "calculator(expression=\"2+3\")",
	"python in a block":         "```python\ncalculator(expression=\"2+3\")\n```",
}

func TestCalls(t *testing.T) {
	for name, text := range calls {
		if markup.Find(text, []string{"calculator", "fs_write"}) == "" {
			t.Errorf("%s is an answer:\n%s", name, text)
		}
	}
}

// answers are responses that quote or explain markup, or that resemble it.
var answers = map[string]string{
	"words":                    "The result is 5.",
	"nothing":                  "",
	"a name":                   "I used calculator(expression=\"2+3\"), and the result is 5.",
	"in the middle of prose":   "Models of Hermes write <tool_call>{\"name\": \"calculator\"}</tool_call> to call a tool.",
	"at the end of prose":      "To call a tool, DeepSeek writes <｜tool▁calls▁begin｜>",
	"a token within prose":     "Kimi puts <|tool_call_begin|> before the name, and Mistral [TOOL_CALLS].",
	"a code block":             "A call of Hermes:\n\n```\n<tool_call>\n{\"name\": \"calculator\", \"arguments\": {}}\n</tool_call>\n```\n\nThe server parses it.",
	"a code block alone":       "```xml\n<tool_call>\n{\"name\": \"calculator\", \"arguments\": {}}\n</tool_call>\n```",
	"a block of json in prose": "The request of the client is:\n\n```json\n{\"name\": \"calculator\", \"arguments\": {}}\n```\n\nIt has a name and arguments.",
	"tildes":                   "So:\n~~~\n<tool_call>\n{\"name\": \"calculator\"}\n</tool_call>\n~~~",
	"inline code":              "`<tool_call>` begins a call of calculator, and `</tool_call>` ends it.",
	"inline code first":        "`<|python_tag|>` is the token of Llama before a call of calculator.",
	"an example of a tool":     "Hermes writes a call like this:\n\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {}}\n</tool_call>\n\nThe server turns it into a call.",
	"a list of forms":          "The forms are:\n- `[TOOL_CALLS]` of Mistral\n- `<|python_tag|>` of Llama, as in `<|python_tag|>calculator.call()`",
	"json of an answer":        "{\"name\": \"Ann\", \"parameters\": {\"age\": 5}}",
	"json list of an answer":   "[{\"name\": \"get_user\", \"arguments\": [\"id\"]}]",
	"json with the name":       "{\"tool\": \"calculator\", \"result\": 5}",
	"code":                     "```python\ndef calculator(expression):\n    return eval(expression)\n```",
	"code that calls":          "```python\nresult = calculator(expression=\"2+3\")\nprint(result)\n```",
	"code of another call":     "print(hello(name=\"x\"))",
	"html":                     "<table>\n<tr><td>5</td></tr>\n</table>",
	"a function in markdown":   "calculator: a tool that calculates.\n\nIt takes an expression.",
	"a heading":                "calculator\n\nThe tool calculates.",
	"action in prose":          "Action: the calculator must be replaced.\n\nOwner: Ann",
	"a quote of a mail":        "> tool_call failed\n\nThe mail says that the calculator failed.",
	"thoughts":                 "<think>I could write <tool_call>, but need not.</think>\nThe result is 5.",
	"a diff":                   "```diff\n-<tool_call>\n+<function=calculator>\n```",
	"a link":                   "[calculator](https://example.org/calculator)",
	"a checklist":              "[calculator] works (all tests).",
}

func TestAnswers(t *testing.T) {
	for name, text := range answers {
		if found := markup.Find(text, []string{"calculator", "fs_write"}); found != "" {
			t.Errorf("%s is a call in the form %q:\n%s", name, found, text)
		}
	}
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a":                               "a",
		"\ufeffa":                         "a",
		"<think>b</think>a":               "a",
		"\ufeff<think>\nb\n</think>\n\na": "\n\na",
		"<think>b":                        "<think>b",
		"a <think>b</think>":              "a <think>b</think>",
	} {
		if got := markup.Plain(text); got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

func TestUnfenced(t *testing.T) {
	for text, want := range map[string]string{
		"{}":                         "{}",
		"```json\n{}\n```":           "{}",
		"\n```\n{}\n```\n":           "{}",
		"~~~json\n{}\n~~~":           "{}",
		"```json\n{\"a\":1}":         "{\"a\":1}",
		"```json\n{\n}\n```":         "{\n}",
		"see\n```json\n{}\n```":      "see\n```json\n{}\n```",
		"```json\n{}\n```\nsee":      "```json\n{}\n```\nsee",
		"```\n{}\n```\n```\n{}\n```": "```\n{}\n```\n```\n{}\n```",
		"``{}``":                     "``{}``",
	} {
		if got := markup.Unfenced(text); got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

// Find returns for every text, in a time that grows with its length.
func FuzzFind(f *testing.F) {
	for _, text := range calls {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		markup.Find(text, []string{"calculator"})
		markup.Unfenced(markup.Plain(text))
	})
}
