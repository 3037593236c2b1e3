package scripted

import (
	"fmt"
	"text/template/parse"
)

// function is a function that a template may call. least and most bound its number of arguments.
type function struct {
	least, most int // arguments
	call        func(s scope, args []any) (any, error)
}

const functionNames = "result, prompt, attachments, json and printf"

func functions() map[string]function {
	return map[string]function{
		"result":      {1, 1, func(s scope, args []any) (any, error) { return s.result(fmt.Sprint(args[0])) }},
		"prompt":      {0, 0, func(s scope, _ []any) (any, error) { return s.prompt(), nil }},
		"attachments": {0, 0, func(s scope, _ []any) (any, error) { return s.attachments(), nil }},
		"json":        {1, 1, func(_ scope, args []any) (any, error) { return marshal(args[0]) }},
		"printf":      {1, 100, func(_ scope, args []any) (any, error) { return fmt.Sprintf(fmt.Sprint(args[0]), args[1:]...), nil }},
	}
}

// checkNode returns an error for constructs of text/template that scripts do not allow.
func checkNode(node parse.Node) error {
	switch node := node.(type) {
	case *parse.TextNode, *parse.CommentNode:
		return nil
	case *parse.ActionNode:
		return checkPipeline(node.Pipe)
	default:
		return fmt.Errorf("there is no %s here; a template may only call %s", node, functionNames)
	}
}

func checkPipeline(pipe *parse.PipeNode) error {
	if len(pipe.Decl) > 0 {
		return fmt.Errorf("there are no variables here, as in %s; a template may only call %s", pipe, functionNames)
	}
	for i, command := range pipe.Cmds {
		given := len(command.Args) - 1
		if i > 0 {
			given++ // the result of the previous command
		}
		if name, ok := command.Args[0].(*parse.IdentifierNode); !ok {
			if given > 0 {
				return fmt.Errorf("%s is no function, in %s; there are %s", command.Args[0], pipe, functionNames)
			}
		} else if f := functions()[name.Ident]; given < f.least || given > f.most {
			return fmt.Errorf("%s has %d arguments, in %s", name, given, pipe)
		}
		for j, arg := range command.Args {
			if err := checkArgument(arg, j == 0); err != nil {
				return fmt.Errorf("%w, in %s", err, pipe)
			}
		}
	}
	return nil
}

func checkArgument(arg parse.Node, first bool) error {
	switch arg := arg.(type) {
	case *parse.StringNode, *parse.BoolNode:
		return nil
	case *parse.NumberNode:
		if arg.IsInt || arg.IsFloat {
			return nil
		}
	case *parse.PipeNode:
		return checkPipeline(arg)
	case *parse.IdentifierNode:
		if f := functions()[arg.Ident]; first || f.least == 0 {
			return nil
		}
		return fmt.Errorf("%s needs arguments: put it in parentheses with them", arg)
	}
	return fmt.Errorf("%s is not to be had here; a template may only call %s", arg, functionNames)
}

// pipeline evaluates commands. Each one receives the result of the previous one as its last
// argument. checkNode has checked all of them.
func pipeline(s scope, pipe *parse.PipeNode) (value any, err error) {
	for i, command := range pipe.Cmds {
		var args []any
		for _, arg := range command.Args[1:] {
			v, err := argument(s, arg)
			if err != nil {
				return nil, err
			}
			args = append(args, v)
		}
		if i > 0 {
			args = append(args, value)
		}
		if name, ok := command.Args[0].(*parse.IdentifierNode); ok {
			value, err = functions()[name.Ident].call(s, args)
		} else {
			value, err = argument(s, command.Args[0])
		}
		if err != nil {
			return nil, err
		}
	}
	return value, nil
}

func argument(s scope, arg parse.Node) (any, error) {
	switch arg := arg.(type) {
	case *parse.StringNode:
		return arg.Text, nil
	case *parse.BoolNode:
		return arg.True, nil
	case *parse.NumberNode:
		if arg.IsInt {
			return arg.Int64, nil
		}
		return arg.Float64, nil
	case *parse.PipeNode:
		return pipeline(s, arg)
	case *parse.IdentifierNode:
		return functions()[arg.Ident].call(s, nil)
	}
	return nil, fmt.Errorf("%s has no value", arg)
}
