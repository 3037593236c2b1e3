package rpcright_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	agentdv1 "github.com/toolhost/toolhost/gen/go/agentd/v1"
	decisionv1 "github.com/toolhost/toolhost/gen/go/toolhost/decision/v1"
	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	toolhostv1 "github.com/toolhost/toolhost/gen/go/toolhost/v1"
	"github.com/toolhost/toolhost/server/internal/access/authz"
	"github.com/toolhost/toolhost/server/internal/access/rpcright"
)

// Every RPC of every service has a right, and every right of the contract is one of package authz.
func TestEveryRPCHasARight(t *testing.T) {
	table, err := rpcright.Of(toolhostv1.File_toolhost_v1_tool_service_proto, toolhostv1.File_toolhost_v1_admin_service_proto, toolhostv1.File_toolhost_v1_login_service_proto, agentdv1.File_agentd_v1_agent_service_proto, decisionv1.File_toolhost_decision_v1_decision_service_proto)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(table["/toolhost.v1.AdminService/Reload"], []authz.Right{authz.ConfigReload}) ||
		!slices.Equal(table["/agentd.v1.AgentService/Respond"], []authz.Right{authz.RunsOwn, authz.RunsApprove}) {
		t.Errorf("the rights are %v", table)
	}
	values := toolv1.File_toolhost_tool_v1_right_proto.Enums().ByName("Right").Values()
	if got, want := values.Len()-1, len(authz.Rights()); got != want {
		t.Errorf("the contract has %d rights, and package authz has %d", got, want)
	}
	for i := 1; i < values.Len(); i++ {
		name := strings.Replace(strings.ToLower(strings.TrimPrefix(string(values.Get(i).Name()), "RIGHT_")), "_", ".", 1)
		if !slices.Contains(authz.Rights(), authz.Right(name)) {
			t.Errorf("package authz does not know %s", name)
		}
	}
	if len(slices.Collect(maps.Keys(table))) < 35 {
		t.Errorf("only %d RPCs were found", len(table))
	}
}

// An RPC without the option, and one with an unknown right, is an error.
func TestMissingRight(t *testing.T) {
	for name, options := range map[string]*descriptorpb.MethodOptions{"none": nil, "unknown": {}} {
		if options != nil {
			proto.SetExtension(options, toolv1.E_Right, []toolv1.Right{9999})
		}
		file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
			Name: proto.String("x.proto"), Package: proto.String("x"), MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("M")}},
			Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("S"), Method: []*descriptorpb.MethodDescriptorProto{
				{Name: proto.String("Do"), InputType: proto.String(".x.M"), OutputType: proto.String(".x.M"), Options: options},
			}}},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rpcright.Of(file); err == nil || !strings.Contains(err.Error(), "x.S.Do") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
