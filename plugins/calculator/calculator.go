package main

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/toolhost/toolhost/plugins/calculator/expr"
	"github.com/toolhost/toolhost/sdk"
)

// description tells the model what the tool is for, and where its notation differs from what models
// expect.
const description = `Computes one arithmetic expression and returns the number. Use it for any arithmetic beyond small whole numbers, instead of computing in your head. It takes numbers only: no dates, units, variables or code.
Whole numbers, decimals and fractions are exact at any size; other roots, logarithms and trigonometry have 15 digits.
Operators: + - * / // (quotient, rounded down) % (remainder; for percent: 20/100*50) ^ or ** (power) ! (factorial). Write every multiplication: 2*pi, not 2pi.
Functions: sqrt cbrt abs floor ceil round(x, decimals) min max gcd lcm mod pow(base, exponent, modulus) exp ln log(x, base) log2 log10 sin cos tan asin acos atan atan2(y, x) deg rad; log(x) is natural, angles are in radians. Constants: pi e tau. Numbers: 1_000, 1e-9, 0xff, 0b101.`

type input struct {
	Expression string `json:"expression" jsonschema:"one expression in the notation above, with numbers in place of names and units, such as 13! or (1/3+1/6)*2^10 or sqrt(3^2+4^2)" minLength:"1" maxLength:"4096"`
}

func calculator() sdk.Tool {
	return sdk.Func(sdk.Spec{
		Name:        "calculator",
		Version:     "1.0.0",
		DisplayName: "Calculator",
		Description: description,
		Category:    "math",
		Tags:        []string{"math"},
		InputExamples: []sdk.InputExample{
			{Description: "1500 at 3.5 percent for 12 years, in cents", Arguments: json.RawMessage(`{"expression":"round(1500 * (1 + 3.5/100)^12, 2)"}`)},
			{Description: "18 percent of 249.90", Arguments: json.RawMessage(`{"expression":"18/100*249.90"}`)},
			{Description: "a tree 20 m away, seen at 35 degrees", Arguments: json.RawMessage(`{"expression":"20*tan(rad(35))"}`)},
		},
		Timeout:    10 * time.Second,
		ReadOnly:   true,
		Idempotent: true,
	}, calculate)
}

// calculate returns the number as text, and the fraction as JSON if the text is rounded.
func calculate(ctx context.Context, in input) (sdk.Result, error) {
	number, err := expr.Eval(ctx, in.Expression)
	if err != nil {
		return sdk.Result{}, err
	}
	result := sdk.TextResult(number.String())
	if fraction, ok := number.Fraction(); ok {
		// digits and a slash need no escaping
		block := `{"fraction":` + strconv.Quote(fraction) + `}`
		result.Content = append(result.Content, sdk.Content{Kind: "json", JSON: json.RawMessage(block)})
	}
	return result, nil
}
