package sdk_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/sdk"
	"github.com/toolhost/toolhost/sdk/sdktest"
	"github.com/toolhost/toolhost/tool"
)

type payment struct {
	Amount int    `json:"amount"`
	To     string `json:"to" default:"ada"`
}

// payer is a plugin with a tool that must not be executed, and with one that has no check.
func payer(t *testing.T, check func(ctx context.Context, in payment) (sdk.Settlement, error)) sdk.Plugin {
	pay := func(context.Context, payment) (string, error) {
		t.Error("the call was executed")
		return "paid", nil
	}
	spec := sdk.Spec{Name: "pay", Description: "Pays.", RequiresAuth: []string{"bank"}}
	return sdk.Plugin{Name: "bank", Tools: []sdk.Tool{
		sdk.Settle(sdk.Func(spec, pay), check),
		sdk.Func(sdk.Spec{Name: "gamble", Description: "Pays too."}, pay),
	}}
}

func TestSettle(t *testing.T) {
	var says sdk.Settlement
	plugin := payer(t, func(ctx context.Context, in payment) (sdk.Settlement, error) {
		secret, _ := sdk.Secret(ctx, "bank")
		if in != (payment{Amount: 3, To: "ada"}) || sdk.CallID(ctx) != "c-1" || sdk.Session(ctx) != "s" || sdk.Workspace(ctx) != "/w" || secret != "key" {
			t.Errorf("the check got %+v, call %q, session %q, workspace %q, secret %q", in, sdk.CallID(ctx), sdk.Session(ctx), sdk.Workspace(ctx), secret)
		}
		return says, nil
	})
	eachTransport(t, plugin, func(t *testing.T, h *sdktest.Host) {
		if tools := h.Describe().Tools; !tools[0].Settles || tools[1].Settles {
			t.Errorf("declared as %v and %v", tools[0].Settles, tools[1].Settles)
		}
		options := []sdktest.Option{
			sdktest.WithCallID("c-1"), sdktest.WithSession("s"), sdktest.WithWorkspace("/w"), sdktest.WithSecret("bank", "key"),
		}
		for _, verdict := range []sdk.Verdict{sdk.VerdictHappened, sdk.VerdictDidNotHappen, sdk.VerdictUnknown, ""} {
			says = sdk.Settlement{Verdict: verdict, Reason: "I looked", Result: new(sdk.TextResult("paid"))}
			got, err := h.Settle("pay", `{"amount":3}`, options...)
			if err != nil || got.Verdict != verdict || got.Reason != "I looked" {
				t.Errorf("%q: got %+v, %v", verdict, got, err)
			}
			if (got.Result != nil) != (verdict == sdk.VerdictHappened) {
				t.Errorf("%q: the result is %v", verdict, got.Result)
			}
		}
	})
}

func TestSettleFails(t *testing.T) {
	broken := sdk.Result{Content: []sdk.Content{sdk.JSON([]byte("{"))}}
	for name, tt := range map[string]struct {
		tool      string
		arguments string
		check     func(ctx context.Context, in payment) (sdk.Settlement, error)
		kind      tool.Kind
		says      string
	}{
		"no check": {tool: "gamble", kind: tool.KindUnsupported, says: "gamble"},
		"no tool":  {tool: "other", kind: tool.KindNotFound},
		"error":    {check: func(context.Context, payment) (sdk.Settlement, error) { return sdk.Settlement{}, errors.New("no line") }, kind: tool.KindInternal, says: "no line"},
		"infrastructure": {check: func(context.Context, payment) (sdk.Settlement, error) {
			return sdk.Settlement{}, sdk.Unavailable("no line")
		}, kind: tool.KindUnavailable},
		"panic":         {check: func(context.Context, payment) (sdk.Settlement, error) { panic("no line") }, kind: tool.KindInternal, says: "no line"},
		"wrong verdict": {check: func(context.Context, payment) (sdk.Settlement, error) { return sdk.Settlement{Verdict: "paid"}, nil }, kind: tool.KindInternal, says: "paid"},
		"broken result": {check: func(context.Context, payment) (sdk.Settlement, error) {
			return sdk.Settlement{Verdict: sdk.VerdictHappened, Result: &broken}, nil
		}, kind: tool.KindInternal, says: "not JSON"},
		"wrong arguments": {arguments: `{"amount":"much"}`, kind: tool.KindInternal, says: "amount"},
		"question": {check: func(ctx context.Context, _ payment) (sdk.Settlement, error) {
			_, err := sdk.Complete(ctx, sdk.ModelQuestion{})
			return sdk.Settlement{}, err
		}, kind: tool.KindUnsupported},
		"artifact": {check: func(ctx context.Context, _ payment) (sdk.Settlement, error) {
			_, err := sdk.OpenArtifact(ctx, "a")
			return sdk.Settlement{}, err
		}, kind: tool.KindUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.tool == "" {
				tt.tool = "pay"
			}
			if tt.arguments == "" {
				tt.arguments = `{"amount":3}`
			}
			if tt.check == nil {
				tt.check = func(context.Context, payment) (sdk.Settlement, error) {
					t.Error("the check ran")
					return sdk.Settlement{}, nil
				}
			}
			got, err := sdktest.New(t, payer(t, tt.check)).Settle(tt.tool, tt.arguments,
				sdktest.WithArtifact("a", sdk.Text("x")), sdktest.Answers(func(tool.Question) tool.Answer {
					t.Error("the check asked")
					return tool.Answer{}
				}))
			if tool.KindOf(errOrNil(err)) != tt.kind || !strings.Contains(errOrNil(err).Error(), tt.says) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func errOrNil(err *sdk.Error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}

// A check reports nothing to people, and its context ends when toolhost cancels it.
func TestSettleCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := sdktest.New(t, payer(t, func(ctx context.Context, _ payment) (sdk.Settlement, error) {
		sdk.ReportProgress(ctx, 1, 2, "looking")
		cancel()
		<-ctx.Done()
		return sdk.Settlement{Verdict: sdk.VerdictHappened}, ctx.Err()
	}))
	if got, err := h.Settle("pay", `{"amount":3}`, sdktest.WithContext(ctx)); tool.KindOf(errOrNil(err)) != tool.KindCancelled {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A dynamic tool and one made of objects are asked like others. An object is not opened.
func TestSettleObject(t *testing.T) {
	spec := sdk.Spec{Name: "x", Description: "x", PartialArguments: true}
	edit := sdk.Object(spec, func(context.Context) (*editor, error) { return nil, errors.New("an object was opened") })
	edit = sdk.Settle(edit, func(_ context.Context, in editIn) (sdk.Settlement, error) {
		return sdk.Settlement{Reason: in.Text}, nil
	})
	plugin := sdk.Plugin{Name: "p", Tools: []sdk.Tool{edit.Dynamic(func(context.Context) (sdk.Variant, error) { return sdk.Variant{}, nil })}}
	got, err := sdktest.New(t, plugin).Settle("x", `{"text":"hello"}`, sdktest.WithSession("s"))
	if err != nil || got.Reason != "hello" {
		t.Errorf("got %+v, %v", got, err)
	}
}
