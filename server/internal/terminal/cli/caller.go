package cli

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// maxCallerTexts bounds each list of an answer of a server. A program that is no toolhost can
// answer with thousands of texts.
const maxCallerTexts = 100

// WriteCaller writes how a server identified the caller, as text or as one object of JSON. program
// is toolhost or agentd.
func WriteCaller(p Process, program string, c tool.CallerInfo, asJSON bool) error {
	c.Roles = append([]tool.GrantedRole{}, c.Roles[:min(len(c.Roles), maxCallerTexts)]...)
	c.Rights = append([]tool.GrantedRight{}, c.Rights[:min(len(c.Rights), maxCallerTexts)]...)
	if asJSON {
		return WriteJSON(p.Stdout, c)
	}
	var b strings.Builder
	row := func(name string, texts ...string) {
		for i, text := range texts {
			if i == 0 {
				name += ":"
			} else {
				name = ""
			}
			fmt.Fprintf(&b, "%-12s%s\n", name, OneLine(Clip(text, 2000)))
		}
	}
	row("principal", c.Principal)
	row("tenant", c.Tenant)
	row("groups", cmp.Or(listed(c.Groups), "none"))
	row("credential", credentialText(c))
	row("from", c.Address)
	if len(c.ScopeRoles)+len(c.ScopeTools) > 0 {
		row("limited to", limitText(c))
	}
	if len(c.Roles) == 0 {
		row("roles", fmt.Sprintf("none; the operator gives roles under auth.bindings of %s.yaml", program))
	} else {
		row("roles", roleTexts(c.Roles)...)
		row("rights", rightTexts(c.Rights)...)
	}
	_, err := p.Out().Write([]byte(b.String()))
	return err
}

func listed(texts []string) string {
	return strings.Join(texts[:min(len(texts), maxCallerTexts)], ", ")
}

// in returns where a role or right holds.
func in(tenants []string, all bool) string {
	switch {
	case all:
		return " in all tenants"
	case len(tenants) == 1:
		return " in the tenant " + tenants[0]
	}
	return " in the tenants " + listed(tenants)
}

func credentialText(c tool.CallerInfo) string {
	text := map[string]string{
		"peer": "the user of a unix socket", "certificate": "a client certificate", "token": "a token", "jwt": "a JWT", "none": "none, the caller is anonymous",
	}[c.Credential]
	text = cmp.Or(text, c.Credential)
	if c.CredentialID != "" {
		text += " (" + strings.TrimSpace(c.CredentialID) + ")"
	}
	if !c.Expires.IsZero() {
		text += ", until " + c.Expires.Local().Format(time.DateTime)
	}
	return text
}

func limitText(c tool.CallerInfo) string {
	var limits []string
	if len(c.ScopeRoles) > 0 {
		limits = append(limits, "the roles "+listed(c.ScopeRoles))
	}
	if len(c.ScopeTools) > 0 {
		limits = append(limits, "the tools "+listed(c.ScopeTools))
	}
	return strings.Join(limits, ", and ")
}

func roleTexts(roles []tool.GrantedRole) []string {
	var texts []string
	for _, role := range roles {
		text := role.Role + in(role.Tenants, role.AllTenants)
		if len(role.Tools) > 0 {
			text += ", for the tools " + listed(role.Tools)
		}
		texts = append(texts, text)
	}
	return texts
}

// rightTexts returns one text for all rights that hold in the same tenants.
func rightTexts(rights []tool.GrantedRight) []string {
	if len(rights) == 0 {
		return []string{"none"}
	}
	var places []string
	names := map[string][]string{}
	for _, right := range rights {
		place := in(right.Tenants, right.AllTenants)
		if names[place] == nil {
			places = append(places, place)
		}
		names[place] = append(names[place], right.Right)
	}
	var texts []string
	for _, place := range places {
		texts = append(texts, strings.Join(names[place], ", ")+place)
	}
	return texts
}
