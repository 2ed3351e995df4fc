// Reads the cases of table tests in Go. In: a folder with test files. Out: JSON, one object for each case with a load and a query.
//
// A case is an element of a slice of anonymous structs that have the fields load and query. Texts, times and durations are computed
// from literals; a case with one that cannot be is given with the reason why not.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

type testCase struct {
	File      string  `json:"file"`
	Line      int     `json:"line"`
	Test      string  `json:"test"`
	Name      string  `json:"name"`
	Load      string  `json:"load"`
	Query     string  `json:"query"`
	Instant   bool    `json:"instant"`
	StartMs   int64   `json:"start_ms"`
	EndMs     int64   `json:"end_ms"`
	StepMs    int64   `json:"step_ms"`
	Lookbacks []int64 `json:"lookbacks_ms"`
	Unread    string  `json:"unread"`
}

// scope has the values of a function's variables, in nanoseconds where they are times or durations.
type scope map[string]any

func main() {
	paths, err := filepath.Glob(filepath.Join(os.Args[1], "*_test.go"))
	if err != nil || len(paths) == 0 {
		fmt.Fprintln(os.Stderr, "no test files in", os.Args[1])
		os.Exit(1)
	}
	out := []testCase{}
	for _, path := range paths {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, one := range file.Decls {
			function, ok := one.(*ast.FuncDecl)
			if ok && function.Body != nil && strings.HasPrefix(function.Name.Name, "Test") {
				for _, found := range casesOf(function, set) {
					found.File, found.Test = filepath.Base(path), function.Name.Name
					out = append(out, found)
				}
			}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		panic(err)
	}
}

func casesOf(function *ast.FuncDecl, set *token.FileSet) []testCase {
	known := variablesOf(function.Body)
	lookbacks := []int64{0}
	if found, ok := known["lookbackDeltas"].([]int64); ok {
		lookbacks = found
	}
	var out []testCase
	ast.Inspect(function.Body, func(node ast.Node) bool {
		table, ok := node.(*ast.CompositeLit)
		if !ok {
			return true
		}
		fields := fieldsOf(table.Type)
		if !fields["load"] || !fields["query"] {
			return true
		}
		for _, element := range table.Elts {
			if literal, ok := element.(*ast.CompositeLit); ok {
				one := caseOf(literal, fields, known)
				one.Line, one.Lookbacks = set.Position(literal.Pos()).Line, lookbacks
				out = append(out, one)
			}
		}
		return false
	})
	return out
}

// fieldsOf gives the names of the fields of a slice of anonymous structs.
func fieldsOf(kind ast.Expr) map[string]bool {
	out := map[string]bool{}
	slice, ok := kind.(*ast.ArrayType)
	if !ok {
		return out
	}
	structure, ok := slice.Elt.(*ast.StructType)
	if !ok {
		return out
	}
	for _, field := range structure.Fields.List {
		for _, name := range field.Names {
			out[name.Name] = true
		}
	}
	return out
}

func variablesOf(body *ast.BlockStmt) scope {
	out := scope{}
	set := func(name string, value ast.Expr) {
		if found, err := valueOf(value, out); err == nil {
			out[name] = found
		}
	}
	ast.Inspect(body, func(node ast.Node) bool {
		switch one := node.(type) {
		case *ast.AssignStmt:
			if one.Tok == token.DEFINE && len(one.Lhs) == len(one.Rhs) {
				for i, left := range one.Lhs {
					if name, ok := left.(*ast.Ident); ok {
						set(name.Name, one.Rhs[i])
					}
				}
			}
		case *ast.ValueSpec:
			if len(one.Names) == len(one.Values) {
				for i, name := range one.Names {
					set(name.Name, one.Values[i])
				}
			}
		}
		return true
	})
	return out
}

func caseOf(literal *ast.CompositeLit, fields map[string]bool, known scope) testCase {
	one := testCase{Instant: fields["queryTime"] || !fields["end"] && !fields["endTime"]}
	one.Load, _ = known["defaultLoad"].(string)
	times := map[string]int64{}
	for _, name := range []string{"start", "end", "step"} {
		if value, ok := known[name].(int64); ok {
			times[name] = value
		}
	}
	for _, name := range []string{"defaultQueryTime", "queryTime"} {
		if value, ok := known[name].(int64); ok {
			times["query"] = value
		}
	}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			one.Unread = "a field without a name"
			return one
		}
		name := pair.Key.(*ast.Ident).Name
		switch name {
		case "load", "query", "name":
			text, err := valueOf(pair.Value, known)
			if found, ok := text.(string); err == nil && ok {
				*map[string]*string{"load": &one.Load, "query": &one.Query, "name": &one.Name}[name] = found
			} else if name != "name" {
				one.Unread = fmt.Sprintf("%s: %v", name, err)
			}
		case "start", "end", "step", "queryTime", "startTime", "endTime":
			value, err := valueOf(pair.Value, known)
			if found, ok := value.(int64); err == nil && ok {
				if name != "step" || found > 0 {
					times[strings.TrimSuffix(name, "Time")] = found
				}
			} else {
				one.Unread = fmt.Sprintf("%s: %v", name, err)
			}
		}
	}
	one.StartMs, one.EndMs, one.StepMs = times["start"]/1e6, times["end"]/1e6, times["step"]/1e6
	if one.Instant {
		one.StartMs, one.EndMs, one.StepMs = times["query"]/1e6, times["query"]/1e6, 0
	} else if one.StepMs <= 0 {
		one.Unread = "no step"
	}
	return one
}

var units = map[string]int64{"Millisecond": 1e6, "Second": 1e9, "Minute": 60e9, "Hour": 3600e9}

// valueOf computes a text, a number, or a time or duration in nanoseconds.
func valueOf(node ast.Expr, known scope) (any, error) {
	switch one := node.(type) {
	case *ast.ParenExpr:
		return valueOf(one.X, known)
	case *ast.Ident:
		if value, ok := known[one.Name]; ok {
			return value, nil
		}
	case *ast.BasicLit:
		switch one.Kind {
		case token.STRING:
			return strconv.Unquote(one.Value)
		case token.INT:
			return strconv.ParseInt(one.Value, 0, 64)
		case token.FLOAT:
			value, err := strconv.ParseFloat(one.Value, 64)
			if err == nil && value == float64(int64(value)) {
				return int64(value), nil
			}
		}
	case *ast.SelectorExpr:
		if unit, ok := units[one.Sel.Name]; ok {
			return unit, nil
		}
	case *ast.UnaryExpr:
		if value, err := valueOf(one.X, known); err == nil && one.Op == token.SUB {
			if number, ok := value.(int64); ok {
				return -number, nil
			}
		}
	case *ast.BinaryExpr:
		return binary(one, known)
	case *ast.CallExpr:
		return call(one, known)
	case *ast.CompositeLit:
		return numbers(one, known)
	}
	return nil, errors.New("not a literal")
}

func numbers(list *ast.CompositeLit, known scope) (any, error) {
	out := []int64{}
	for _, element := range list.Elts {
		value, err := valueOf(element, known)
		number, ok := value.(int64)
		if err != nil || !ok {
			return nil, errors.New("not a list of numbers")
		}
		out = append(out, number/1e6)
	}
	return out, nil
}

func binary(one *ast.BinaryExpr, known scope) (any, error) {
	left, err := valueOf(one.X, known)
	if err != nil {
		return nil, err
	}
	right, err := valueOf(one.Y, known)
	if err != nil {
		return nil, err
	}
	if first, ok := left.(string); ok && one.Op == token.ADD {
		if second, ok := right.(string); ok {
			return first + second, nil
		}
	}
	first, isNumber := left.(int64)
	second, areNumbers := right.(int64)
	if isNumber && areNumbers {
		switch one.Op {
		case token.ADD:
			return first + second, nil
		case token.SUB:
			return first - second, nil
		case token.MUL:
			return first * second, nil
		}
	}
	return nil, errors.New("an operator that is not computed")
}

func call(one *ast.CallExpr, known scope) (any, error) {
	var given []int64
	for _, argument := range one.Args {
		value, err := valueOf(argument, known)
		number, ok := value.(int64)
		if err != nil || !ok {
			return nil, errors.New("a call that is not computed")
		}
		given = append(given, number)
	}
	name := ""
	if selector, ok := one.Fun.(*ast.SelectorExpr); ok {
		name = selector.Sel.Name
	}
	switch {
	case name == "Unix" && len(given) == 2:
		return given[0]*1e9 + given[1], nil
	case name == "UnixMilli" && len(given) == 1:
		return given[0] * 1e6, nil
	case name == "Duration" && len(given) == 1:
		return given[0], nil
	}
	return nil, errors.New("a call that is not computed")
}
