package markup_test

import (
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/model/markup"
)

func TestMeant(t *testing.T) {
	tools := []string{"calculator", "fs_read_file", "tool.list", "Echo", "echo"}
	for name, want := range map[string]string{
		"functions.calculator":            "calculator", // gpt-oss
		"default_api:calculator":          "calculator", // Gemini
		"default_api.calculator":          "calculator",
		"calculator<|channel|>commentary": "calculator", // gpt-oss, vllm#22337
		"calculator<|channel|>json":       "calculator",
		"functions.calculator:0":          "calculator", // Kimi
		"calculator:12":                   "calculator",
		"functions.functions.calculator":  "calculator",
		"tools/calculator":                "calculator",
		"calculator<｜tool▁sep｜>":          "calculator", // DeepSeek
		" calculator\n":                   "calculator",
		"\"calculator\"":                  "calculator",
		"calculator()":                    "calculator",
		"Calculator":                      "calculator",
		"FS_READ_FILE":                    "fs_read_file",
		"functions.tool.list":             "tool.list",
		"calculator2":                     "",
		"my.calculator":                   "",
		"functions":                       "",
		"functions.":                      "",
		"ECHO":                            "", // two tools
		"":                                "",
		"<|channel|>":                     "",
		"functions.unknown":               "",
	} {
		if got := markup.Meant(name, tools); got != want {
			t.Errorf("%q means %q, want %q", name, got, want)
		}
	}
}
