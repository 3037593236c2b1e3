package markup

import (
	"regexp"
	"strings"
)

// dialect is a form of calls with an opening that is its own.
type dialect struct {
	name   string
	opener *regexp.Regexp
	// token says that only chat templates have the opening, and that no prose ends with it.
	token bool
	// named says that the opening also occurs in answers: the name of an offered tool must follow.
	named bool
}

// opens returns the pattern of an opening at the beginning of a line.
func opens(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?mi)^[ \t]*` + pattern) }

// dialects are the forms with an opening, each with its source.
var dialects = []dialect{
	{name: "deepseek", opener: opens(`<\|tool_calls?_begin\|>`), token: true},                      // DeepSeek V3, R1: chat template
	{name: "deepseek dsml", opener: opens(`<\|?dsml\|?\s*(?:function_calls|invoke)`), token: true}, // DeepSeek V3.2: chat template
	{name: "kimi", opener: opens(`<\|tool_calls?_section_begin\|>|<\|tool_call_begin\|>`), token: true},
	{name: "llama", opener: opens(`<\|python_tag\|>`), token: true},                                                      // Llama 3.1: chat template
	{name: "mistral", opener: opens(`\[TOOL_CALLS\]`), token: true},                                                      // Mistral: tokenizer
	{name: "harmony", opener: opens(`(?:<\|start\|>assistant)?<\|channel\|>(?:commentary|analysis)\s+to=`), token: true}, // gpt-oss
	{name: "harmony without tokens", opener: opens(`(?:assistant)?(?:commentary|analysis)?\s*to=functions\.`)},           // openai/harmony, vllm#22337
	{name: "gemma 4", opener: opens(`<\|tool_call>\s*call:`), token: true},
	{name: "functiongemma", opener: opens(`<start_function_call>\s*call:`), token: true},
	{name: "granite, phi 4", opener: opens(`<\|tool_calls?\|>`), token: true},
	{name: "lfm2", opener: opens(`<\|tool_call_start\|>`), token: true},
	{name: "doubao", opener: opens(`<\|FunctionCallBegin\|>`), token: true},
	{name: "internlm", opener: opens(`<\|action_start\|>`), token: true},
	{name: "functionary", opener: opens(`<\|recipient\|>`), token: true},
	{name: "functionary 3", opener: opens(`>>>[A-Za-z0-9_.-]+\n`), named: true},
	{name: "command r", opener: opens(`<\|START_ACTION\|>`), token: true},
	{name: "qwen-agent", opener: opens(`✿FUNCTION✿`), token: true},
	{name: "phi 4 mini", opener: opens(`functools\s*\[`), token: true},
	{name: "minimax", opener: opens(`<minimax:tool_call>`), token: true},
	{name: "seed", opener: opens(`<seed:tool_call>`), token: true},
	{name: "step 3", opener: opens(`<steptml:(?:function_call|invoke)`), token: true},
	{name: "longcat", opener: opens(`<longcat_tool_call>`), token: true},
	{name: "nemotron", opener: opens(`<TOOLCALL>`)},
	{name: "lm studio", opener: opens(`\[TOOL_REQUEST\]`), token: true},
	{name: "minimax m2", opener: opens(`\[TOOL_CALL\]`), token: true}, // openclaw: a dialect of M2 without its tokens
	{name: "hermes, qwen, glm", opener: opens(`<tool_calls?>`)},       // NousResearch/Hermes-Function-Calling; GLM 4.5; Jamba; Hunyuan
	{name: "qwen coder", opener: opens(`<function=[A-Za-z0-9_.:-]+>`)},
	{name: "function_call", opener: opens(`<function_?calls?>`)}, // Glaive, OLMo 3, Claude's markup in other models
	{name: "invoke", opener: opens(`<(?:[a-z]+:)?invoke\s+name\s*=`)},
	{name: "tool with a name", opener: opens(`<(?:tool|tool_use|tool_call|function|use_tool|call)\s+name\s*=`)},
	{name: "tool_use", opener: opens(`<(?:tool_use|use_tool|use_mcp_tool|tool_request|execute_tool)>`)}, // Cline, Roo Code
	{name: "tool_code", opener: opens(`<tool_code>`)},                                                   // Gemini: google-gemini/gemini-cli
	{name: "tools", opener: opens(`<tools>\s*\{`)},                                                      // Qwen 2.5 Coder
	{name: "react", opener: opens(`Action:\s*[A-Za-z0-9_.-]+\s*\n+\s*Action[ _]Input:`), named: true},   // ReAct
}

// shape is a form without an opening of its own. The whole text has it, and the name of an offered
// tool.
type shape struct {
	name    string
	pattern *regexp.Regexp // its first group is the name of a tool
}

func (s *shape) matches(text string, tools []string) bool {
	found := s.pattern.FindStringSubmatch(text)
	return found != nil && mentions(found[1], tools)
}

// prefix are the names of spaces that models put before the name of a tool.
const prefix = `(?:functions[.:]|default_api[.:]|tools[.:]|tool[.:])?`

// shapes are what models write that were trained on plain JSON or Python.
var shapes = []shape{
	{"json", regexp.MustCompile(`(?s)^\[?\s*\{\s*"(?:type"\s*:\s*"function"\s*,\s*")?(?:name|function|tool|tool_name|action)"\s*:\s*(?:\{\s*"name"\s*:\s*)?"([^"]+)"\s*,\s*"(?:arguments|parameters|args|input|action_input|tool_input|params|kwargs)"\s*:.*[}\]]$`)},
	{"json, arguments first", regexp.MustCompile(`(?s)^\[?\s*\{\s*"(?:arguments|parameters|args|input)"\s*:\s*\{.*\}\s*,\s*"(?:name|function|tool|tool_name)"\s*:\s*"([^"]+)"\s*\}\s*\]?$`)},
	{"json, with an id", regexp.MustCompile(`(?s)^\[?\s*\{\s*"(?:id|type)"\s*:\s*"[^"]*"\s*,.*"name"\s*:\s*"([^"]+)"\s*,\s*"(?:arguments|parameters)"\s*:.*[}\]]$`)},
	{"python list", regexp.MustCompile(`(?s)^\[\s*` + prefix + `([A-Za-z_][\w.-]*)\(.*\)\s*\]$`)},
	{"python", regexp.MustCompile(`(?s)^(?:print\(\s*)?` + prefix + `([A-Za-z_][\w.-]*)\(\s*(?:[A-Za-z_]\w*\s*=.*|\{.*\}|)\)\s*\)?$`)},
	{"llama, method", regexp.MustCompile(`(?s)^([A-Za-z_][\w-]*)\.call\(.*\)$`)},
	{"name and json", regexp.MustCompile(`(?s)^(?:assistant\s*)?` + prefix + `([A-Za-z_][\w.-]*)(?::\d+)?\s*\n\s*\{.*\}$`)},
	{"gemini call", regexp.MustCompile(`(?s)^call:` + prefix + `([A-Za-z_][\w.-]*)\s*\{.*\}$`)},
	{"element of its name", regexp.MustCompile(`(?s)^<([A-Za-z_][\w.-]*)>.*</[A-Za-z_][\w.-]*>$`)},
}

// fence is a form in a code block.
type fence struct {
	name    string
	of      bool           // the block is of calls, by its language
	pattern *regexp.Regexp // its first group is the content
}

// matches reports whether a text ends with a call in a code block. The content of a block of JSON
// or Python has to be a whole call of an offered tool, and the block the whole text.
func (f *fence) matches(text string, tools []string) bool {
	found := f.pattern.FindStringSubmatch(text)
	if found == nil || strings.Contains(found[1], "```") {
		return false
	}
	content := strings.TrimSpace(found[1])
	if f.of && mentions(content, tools) {
		return true
	}
	for i := range shapes {
		if shapes[i].matches(content, tools) {
			return true
		}
	}
	return false
}

// fences are the forms in code blocks.
var fences = []fence{
	{"tool_code", true, regexp.MustCompile("(?s)(?:^|\\n)```(?:tool_code|tool_calls?|tool_use|tool)[ \\t]*\\n(.*?)\\n?```$")}, // Gemma 2 and 3
	{"command r", true, regexp.MustCompile("(?s)(?:^|\n)Action:\\s*```(?:json)?[ \\t]*\n(.*?)\n?```$")},
	{"code", false, regexp.MustCompile("(?s)^```(?:json|python|py|)[ \\t]*\\n(.*?)\\n?```$")},
}
