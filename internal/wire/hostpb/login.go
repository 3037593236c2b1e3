package hostpb

import (
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/internal/wire/toolpb"
	"github.com/toolhost/toolhost/tool"
)

// FromLogin converts a login.
func FromLogin(l tool.Login) *toolhostv1.Login {
	return &toolhostv1.Login{
		Plugin: l.Plugin, Url: l.URL, Grant: l.Grant, LoggedIn: l.LoggedIn, Issuer: l.Issuer, Scopes: l.Scopes, MissingScopes: l.MissingScopes,
		CreateTime: toolpb.FromTime(l.Created), ExpireTime: toolpb.FromTime(l.Expires), Renews: l.Renews, Problem: l.Problem,
	}
}

// ToLogin converts a login. nil stands for the zero Login.
func ToLogin(l *toolhostv1.Login) tool.Login {
	return tool.Login{
		Plugin: l.GetPlugin(), URL: l.GetUrl(), Grant: l.GetGrant(), LoggedIn: l.GetLoggedIn(), Issuer: l.GetIssuer(), Scopes: l.GetScopes(), MissingScopes: l.GetMissingScopes(),
		Created: toolpb.ToTime(l.GetCreateTime()), Expires: toolpb.ToTime(l.GetExpireTime()), Renews: l.GetRenews(), Problem: l.GetProblem(),
	}
}

// FromLoginStart converts a login in progress.
func FromLoginStart(s tool.LoginStart) *toolhostv1.BeginLoginResponse {
	return &toolhostv1.BeginLoginResponse{
		LoginId: s.ID, Url: s.URL, Issuer: s.Issuer, Scopes: s.Scopes, ExpireTime: toolpb.FromTime(s.Expires), BrowserUrl: s.BrowserURL, State: s.State,
		UserCode: s.UserCode, VerifyUrl: s.VerifyURL, VerifyUrlComplete: s.VerifyURLComplete,
	}
}

// ToLoginStart converts a login in progress at a plugin.
func ToLoginStart(plugin string, s *toolhostv1.BeginLoginResponse) tool.LoginStart {
	return tool.LoginStart{
		Plugin: plugin, ID: s.GetLoginId(), URL: s.GetUrl(), Issuer: s.GetIssuer(), Scopes: s.GetScopes(), Expires: toolpb.ToTime(s.GetExpireTime()),
		BrowserURL: s.GetBrowserUrl(), State: s.GetState(), UserCode: s.GetUserCode(), VerifyURL: s.GetVerifyUrl(), VerifyURLComplete: s.GetVerifyUrlComplete(),
	}
}
