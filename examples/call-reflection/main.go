// Command call-reflection calls a tool without any code of toolhost: it learns the service from the
// server by gRPC reflection, as grpcurl does. A caller thus needs no SDK, no .proto file and no
// generated code.
//
//	call-reflection ADDRESS METHOD JSON
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: call-reflection ADDRESS METHOD JSON")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Stdout, os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "call-reflection:", err)
		os.Exit(1)
	}
}

// run makes a unary RPC, such as toolhost.v1.ToolService/Call, with a request in JSON, and prints
// the response.
func run(ctx context.Context, out io.Writer, addr, name, request string) error {
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	method, err := find(ctx, conn, name)
	if err != nil {
		return err
	}
	in, answer := dynamicpb.NewMessage(method.Input()), dynamicpb.NewMessage(method.Output())
	if err := protojson.Unmarshal([]byte(request), in); err != nil {
		return fmt.Errorf("reading the request: %w", err)
	}
	if err := conn.Invoke(ctx, "/"+name, in, answer); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, protojson.Format(answer))
	return err
}

// find returns the server's description of a method.
func find(ctx context.Context, conn *grpc.ClientConn, name string) (protoreflect.MethodDescriptor, error) {
	service, method, _ := strings.Cut(name, "/")
	stream, err := reflection.NewServerReflectionClient(conn).ServerReflectionInfo(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]*descriptorpb.FileDescriptorProto{}
	wanted := []*reflection.ServerReflectionRequest{
		{MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service}},
	}
	for len(wanted) > 0 {
		files, err := ask(stream, wanted[0])
		if err != nil {
			return nil, fmt.Errorf("asking for %s: %w", name, err)
		}
		wanted = wanted[1:]
		for _, file := range files {
			known[file.GetName()] = file
		}
		for _, file := range files {
			for _, needed := range file.GetDependency() {
				if known[needed] == nil {
					wanted = append(wanted, &reflection.ServerReflectionRequest{
						MessageRequest: &reflection.ServerReflectionRequest_FileByFilename{FileByFilename: needed},
					})
				}
			}
		}
	}
	set := &descriptorpb.FileDescriptorSet{}
	for _, file := range known {
		set.File = append(set.File, file)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	found, err := files.FindDescriptorByName(protoreflect.FullName(service + "." + method))
	if err != nil {
		return nil, err
	}
	if found, ok := found.(protoreflect.MethodDescriptor); ok {
		return found, nil
	}
	return nil, fmt.Errorf("%s is no method", name)
}

// ask sends one reflection request and returns the files in its response.
func ask(stream reflection.ServerReflection_ServerReflectionInfoClient, request *reflection.ServerReflectionRequest) ([]*descriptorpb.FileDescriptorProto, error) {
	if err := stream.Send(request); err != nil {
		return nil, err
	}
	answer, err := stream.Recv()
	if err != nil {
		return nil, err
	}
	if problem := answer.GetErrorResponse(); problem != nil {
		return nil, fmt.Errorf("%s", problem.GetErrorMessage())
	}
	var files []*descriptorpb.FileDescriptorProto
	for _, encoded := range answer.GetFileDescriptorResponse().GetFileDescriptorProto() {
		file := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(encoded, file); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}
