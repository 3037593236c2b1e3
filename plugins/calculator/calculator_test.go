package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
)

func TestPluginIsWellDeclared(t *testing.T) {
	if err := plugin().Validate(); err != nil {
		t.Fatal(err)
	}
}

func TestPlugin(t *testing.T) {
	h := sdktest.NewOverWire(t, plugin())
	tests := []struct {
		arguments, want string
		isError         bool
	}{
		{`{"expression":"13!"}`, "6227020800", false},
		{`{"expression":"1/3"}`, "0.333333333333333333333333333333\n{\"fraction\":\"1/3\"}", false},
		{`{"expression":"2^10^9"}`, "at least 3.01e+8 digits", true},
		{`{"expression":""}`, "expression", true},
		{`{"expression":"1","precision":3}`, "precision", true},
		{`{}`, "expression", true},
	}
	for _, test := range tests {
		result := h.Call("calculator", test.arguments)
		if result.Err != nil {
			t.Fatalf("%s: %v", test.arguments, result.Err)
		}
		if result.IsError != test.isError || !strings.Contains(result.Text(), test.want) {
			t.Errorf("%s: got %q, is_error %v; want %q", test.arguments, result.Text(), result.IsError, test.want)
		}
	}
}

func TestCalculate(t *testing.T) {
	tests := []struct {
		expression string
		want       []sdk.Content
	}{
		{"13!", []sdk.Content{sdk.Text("6227020800")}},
		{"1/3+1/6", []sdk.Content{sdk.Text("0.5")}},
		{"sqrt(2)", []sdk.Content{sdk.Text("1.4142135623731")}},
		{"2/7", []sdk.Content{
			sdk.Text("0.285714285714285714285714285714"),
			{Kind: "json", JSON: json.RawMessage(`{"fraction":"2/7"}`)},
		}},
	}
	for _, test := range tests {
		got, err := calculate(t.Context(), input{Expression: test.expression})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got.Content); diff != "" {
			t.Errorf("%s: %s", test.expression, diff)
		}
	}
}

func TestCalculateExplainsItsErrors(t *testing.T) {
	_, err := calculate(t.Context(), input{Expression: "2 * (3 + x)"})
	if err == nil || !strings.Contains(err.Error(), `at character 10: "x" is unknown; the functions are`) {
		t.Errorf("got %v", err)
	}
	if _, infra := errors.AsType[*sdk.Error](err); infra {
		t.Error("a mistake in the expression is a failure of the machinery")
	}
}

// Code in an expression is a syntax error.
func TestNothingIsExecuted(t *testing.T) {
	for _, code := range []string{
		"__import__('os').system('id')", "os.exit(1)", "process.exit()", "require('fs')", "eval('1+1')", "exec(1)", "lambda: 1", "x = 1", "1; 2", "1 if 1 else 2",
		"[i for i in (1, 2)]", "{1}", "`id`", "$(id)", "${1+1}", "{{1+1}}", "1 && 2", "1 | 2", "'a'", "\"a\"", "a.b", "max.__class__", "sqrt", "sin()(1)", "f(x) := x", "<script>", "../1", "1\x00+1",
	} {
		if got, err := calculate(t.Context(), input{Expression: code}); err == nil {
			t.Errorf("%s is %s", code, got.Text())
		}
	}
}

// Expressions that would need unbounded time or memory are refused immediately, and the error says
// what to do instead.
func TestWorkIsBounded(t *testing.T) {
	for _, expression := range []string{
		"9^9^9", "9**9**9**9", "2^(10^18)", "(10^18)!", "10000!^10000", "1e999999999", "pow(7, 9^9^9, 11)", "((99999!)!)!",
		strings.Repeat("(", 5000), strings.Repeat("-", 4000) + "1", strings.Repeat("2^", 2000) + "2", "1" + strings.Repeat("+10000!*10000!", 290),
	} {
		if got, err := calculate(t.Context(), input{Expression: expression}); err == nil {
			t.Errorf("%.40s has %d digits", expression, len(got.Text()))
		}
	}
}

func TestCalculateStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := calculate(ctx, input{Expression: "1+1"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

// The examples in the description work.
func TestDescriptionIsTrue(t *testing.T) {
	for _, example := range calculator().Spec().InputExamples {
		var in input
		if err := json.Unmarshal(example.Arguments, &in); err != nil {
			t.Fatal(err)
		}
		if _, err := calculate(t.Context(), in); err != nil {
			t.Errorf("%s: %v", in.Expression, err)
		}
	}
	for _, expression := range []string{"100!", "2^1000", "20/100*50", "7//2", "7%2", "2**3", "round(2.345, 2)", "pow(2, 10, 7)", "log(8, 2)", "atan2(1, 1)", "sin(rad(30))", "1_000", "1e-9", "0xff", "0b101", "tau"} {
		if _, err := calculate(t.Context(), input{Expression: expression}); err != nil {
			t.Errorf("%s: %v", expression, err)
		}
	}
}
