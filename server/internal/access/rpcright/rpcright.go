// Package rpcright finds the rights that each RPC needs. The option (toolhost.tool.v1.right) in the
// protos states them.
package rpcright

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	toolv1 "github.com/toolhost/toolhost/gen/go/toolhost/tool/v1"
	"github.com/toolhost/toolhost/server/internal/access/authz"
)

// Table contains the rights of the RPCs of some services, by full method, such as
// /toolhost.v1.ToolService/Call. A caller needs one of the rights of an RPC. Do not change a Table.
type Table map[string][]authz.Right

// Of returns the rights of the RPCs of the services in the files. It returns an error if an RPC has
// no right, or one that package authz does not know.
func Of(files ...protoreflect.FileDescriptor) (Table, error) {
	known := map[authz.Right]bool{}
	for _, right := range authz.Rights() {
		known[right] = true
	}
	table := Table{}
	for _, file := range files {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				rights := rightsOf(method)
				if len(rights) == 0 {
					return nil, fmt.Errorf("the RPC %s has no right in its option", method.FullName())
				}
				for _, right := range rights {
					if !known[right] {
						return nil, fmt.Errorf("the RPC %s has the right %q in its option, which server/internal/access/authz does not know", method.FullName(), right)
					}
				}
				table["/"+string(service.FullName())+"/"+string(method.Name())] = rights
			}
		}
	}
	return table, nil
}

// rightsOf returns the rights in the option of a method.
func rightsOf(method protoreflect.MethodDescriptor) []authz.Right {
	options, _ := proto.GetExtension(method.Options(), toolv1.E_Right).([]toolv1.Right)
	var rights []authz.Right
	for _, right := range options {
		name := strings.ToLower(strings.TrimPrefix(right.String(), "RIGHT_"))
		rights = append(rights, authz.Right(strings.Replace(name, "_", ".", 1))) // RIGHT_TOOLS_LIST is tools.list
	}
	return rights
}
