#!/usr/bin/env ruby
# frozen_string_literal: true

# Records the answers of the real Puppet about types and conversions, for tests/recorded_cases.rs.
#
#   ruby record_types.rb > types.json          records the cases below
#   ruby record_types.rb --serve               answers one JSON question per line, for fuzzing
#
# Needs Puppet 7 (package puppet-agent). A question is one of
#   {"parse": TYPE}                            -> {"type": TEXT}
#   {"check": TYPE, "value": V}                -> {"instance": BOOL, "mismatch": TEXT}
#   {"convert": TYPE, "value": V, "args": [V]} -> {"result": V}
#   {"text": [V]}                              -> {"text": TEXT}, what an explanation prints
# or {"error": TEXT, "class": RUBY CLASS}. A value V is JSON, with these additional forms:
#   {"$map": [[K, V], ...]} every hash    {"$int": "1"} a large integer   {"$float": "NaN"}
#   {"$sym": "default"}                   {"$bytes": HEX}                  {"$type": TEXT}
#   {"$sensitive": V}                     {"$rich": TYPE NAME, "text": String(value)} (answers only)

require 'json'
require 'tmpdir'
require 'fileutils'
require 'puppet'
require 'puppet/pops'

# A running Puppet.
class Recorder
  T = Puppet::Pops::Types

  def initialize
    home = Dir.mktmpdir('record')
    at_exit { FileUtils.remove_entry(home, true) }
    Puppet.initialize_settings(
      ['--confdir', "#{home}/conf", '--vardir', "#{home}/var", '--codedir', "#{home}/code"], false
    )
    Puppet::Util::Log.level = :crit
    env = Puppet::Node::Environment.create(:production, [])
    context = Puppet.base_context(Puppet.settings)
    context = context.merge(current_environment: env, loaders: Puppet::Pops::Loaders.new(env))
    Puppet.push_context_global(context, 'record')
    node = Puppet::Node.new('node')
    node.environment = env
    @scope = Puppet::Parser::Compiler.new(node).topscope
  end

  def answer(ask)
    if ask.key?('parse') then { 'type' => parse(ask['parse']).to_s }
    elsif ask.key?('check') then check(parse(ask['check']), decode(ask['value']))
    elsif ask.key?('text') then { 'text' => T::StringConverter.singleton.convert(decode(ask['text'])) }
    else
      args = (ask['args'] || []).map { |arg| decode(arg) }
      type = ask['convert'].is_a?(String) ? parse(ask['convert']) : decode(ask['convert'])
      { 'result' => encode(@scope.call_function('new', [type, decode(ask['value']), *args])) }
    end
  rescue StandardError, SystemStackError => e
    # Ruby's own errors continue with the position in the program.
    text = e.message.dup.force_encoding('UTF-8').scrub('?')
    text = text.lines.first.chomp.sub(/ for #<.*/, '') if e.is_a?(NameError)
    { 'error' => text, 'class' => e.class.name }
  end

  private

  def parse(text) = T::TypeParser.singleton.parse(text)

  def check(type, value)
    return { 'instance' => true } if type.instance?(value)

    begin
      T::TypeAsserter.assert_instance_of('Found value', type, value)
    rescue T::TypeAssertionError => e
      { 'instance' => false, 'mismatch' => e.message }
    end
  end

  def decode(value)
    case value
    when Array then value.map { |item| decode(item) }
    when Hash
      if value.key?('$map') then value['$map'].to_h { |k, v| [decode(k), decode(v)] }
      elsif value.key?('$int') then Integer(value['$int'])
      elsif value.key?('$float') then { 'NaN' => Float::NAN, 'Infinity' => Float::INFINITY, '-Infinity' => -Float::INFINITY, '-0.0' => -0.0 }.fetch(value['$float'])
      elsif value.key?('$sym') then value['$sym'].to_sym
      elsif value.key?('$bytes') then [value['$bytes']].pack('H*')
      elsif value.key?('$type') then parse(value['$type'])
      elsif value.key?('$sensitive') then T::PSensitiveType::Sensitive.new(decode(value['$sensitive']))
      elsif value.key?('$new') then @scope.call_function('new', [parse(value['$new']), *value['args'].map { |arg| decode(arg) }])
      else raise ArgumentError, "unknown form #{value}"
      end
    else value
    end
  end

  def encode(value)
    case value
    when nil, true, false then value
    when String then value.encoding == Encoding::BINARY && !value.ascii_only? ? { '$bytes' => value.unpack1('H*') } : value
    when Integer then value.bit_length < 53 ? value : { '$int' => value.to_s }
    when Float
      return { '$float' => value.to_s } unless value.finite?

      value.zero? && 1 / value < 0 ? { '$float' => '-0.0' } : value
    when Array then value.map { |item| encode(item) }
    when Hash then { '$map' => value.map { |k, v| [encode(k), encode(v)] } }
    when Symbol then { '$sym' => value.to_s }
    when T::PSensitiveType::Sensitive then { '$sensitive' => encode(value.unwrap) }
    else
      text = @scope.call_function('new', [T::PStringType::DEFAULT, value])
      { '$rich' => T::TypeCalculator.infer(value).simple_name, 'text' => text }
    end
  end
end

def map(hash) = { '$map' => hash.map { |k, v| [k, v] } }
def sym(name) = { '$sym' => name }
def made(type, *args) = { '$new' => type, 'args' => args }

# A Ruby value in the form that questions use.
def form(value)
  case value
  when Symbol then sym(value.to_s)
  when Hash then value.key?('$new') ? value : map(value.to_h { |k, v| [form(k), form(v)] })
  when Array then value.map { |item| form(item) }
  when Float then value.finite? ? value : { '$float' => value.to_s }
  else value
  end
end

TEXTS = [
  "Integer [1]", "Integer[ 1 ]", "Integer[1,]", "Integer[1, 2,]", " Integer", "Integer\n", "# c\nInteger",
  "Integer /* x */", "Enum[a-b]", "Enum[a::b]", "Enum[class]", "Enum[type]", "Enum[if]", "Enum[in]", "Enum[_a]",
  "Enum['']", "Enum[a, true]", "Enum[a,false]", "Enum[true]", "Enum[1]", "Enum[foo::bar-baz]",
  "Struct[{class => Integer}]", "Struct[{'a' => Integer, Optional[b] => String}]",
  "Struct[{NotUndef[a] => Optional[Integer]}]", "Struct[{Optional['a'] => Any}]", "Struct[{''=>Integer}]",
  "Struct[{1=>Integer}]", "Struct[{a=>1}]", "Struct[{a=>'x'}]", "Struct[{}]", "Struct[{a=>Integer,}]",
  "Struct[{String=>Integer}]", "Struct[{Enum[x]=>Integer}]", "Struct[{Enum[x,y]=>Integer}]",
  "Struct[{Optional[Enum[x]]=>Integer}]", "Struct[{String['a']=>Integer}]", "Tuple['x']", "Tuple[1]",
  "Tuple[Integer, 1]", "Tuple[Integer,1,default]", "Tuple[Integer,default]", "Tuple[Integer, default, 3]",
  "Tuple[Integer, 3, 1]", "Tuple[1,2]", "Tuple[default, default]", "Array[default]", "Array['x']",
  "Array[Integer, default]", "Array[Integer, Integer[1,2]]", "Array[Integer,-1]", "Array[Integer,0,0]", "Array[0,0]",
  "Hash[0,0]", "Hash[Integer,String,1]", "Hash[1,2]", "Hash[String]", "Hash[String,1]", "String[-5]", "String[0]",
  "String[default]", "String[default,5]", "String[1,default]", "String[Integer[1,2]]", "Collection[0]",
  "Collection[default,3]", "Variant[Integer]", "Variant[Integer,Integer]", "Variant['x']",
  "Variant[Variant[Integer,String],Float]", "Optional[1]", "Optional[Optional[Integer]]", "NotUndef[Any]",
  "Float[1]", "Float[1.5,2]", "Float['1.5', 2]", "Float[a]", "Float[1e3]", "Float[1E-3]", "Float[1.0e20]",
  "Float[1e400]", "Integer[99999999999999999999]", "Integer['a', 2]", "Integer[1, 'a']", "Integer[undef, 2]",
  "Float[undef,2]", "Pattern[1]", "Pattern[Integer]", "Pattern[Regexp[/a/]]", "Pattern[Pattern[/a/,/b/]]",
  "Pattern[/a/,/a/]", "Pattern['[']", "Pattern[/[/]", "Regexp['[']", "Regexp[1]", "Regexp[undef]",
  "Pattern[/a\\/b/]", "Pattern['a/b']", "Pattern[/\\A\\d+\\z/]", "Pattern[/a b/]", "Pattern[/(?i)a/]",
  "Pattern[/(?i:a)/]", "Timespan['x']", "Timespan[1,0]", "Timespan[default, 5]", "Timespan['1-00:00:00', default]",
  "Timespan[{days=>1}]", "Timespan[{}]", "Timespan[Integer]", "Timestamp[5]", "Timestamp['2020-01-01','2021-01-01']",
  "Timestamp[{string=>'2020', format=>'%Y'}]", "SemVer['>=1.0.0','<0.5.0']", "SemVer['1.x']", "SemVer['x y']",
  "SemVer[1]", "SemVer['1.0.0', '2.0.0']", "URI[{scheme=>http}]", "URI[{scheme=>http, port=>80}]",
  "URI['http://x:8080/p?q#f']", "URI[1]", "URI['']", "URI['a b']", "URI[{foo=>1}]",
  "URI[{scheme=>Enum[http,https]}]", "URI[{}]", "Type[Integer[1,2]]", "Type[1]", "Type[File]", "Class['foo','bar']",
  "Class[Foo]", "Class[1]", "Class['']", "Resource[1]", "Resource['foo bar']", "Resource[File,'x']",
  "Resource[Foo[x]]", "Resource[a,b,c]", "Resource['file']", "Resource[undef]", "File['a','b']", "File[1]",
  "File[undef]", "Runtime[1,2]", "Runtime['ruby']", "Runtime['ruby', Foo]", "Init[Foo]", "Init[1]",
  "Init[Integer, 'a']", "Init[Init[Integer]]", "Init[Optional[Integer]]", "Init[Any]", "Iterator[Integer]",
  "Iterable[1]", "Callable[1,2]", "Callable[String,1]", "Callable[String,1,2]", "Callable[Callable]",
  "Callable[String,Callable]", "Callable[String, Optional[Callable]]", "Callable[[],Integer]",
  "Callable[[0,0],Integer]", "Callable[[String],Integer,String]", "Callable[undef]", "Callable['x']",
  "Callable[default]", "Object[1]", "TypeSet[{}]", "TypeSet[1]", "Deferred[1]", "Integer]", "Integer[", "", " ",
  "Integer, String", "Integer String", "(Integer)", "Integer[(1)]", "Integer[1+1]", "Array[foo(1)]", "Integer.foo",
  "Array[$x]", "Array[Foo]", "Optional[Foo[bar]]", "foo[1]", "Integer[1][2]", "Array[Array[Integer[1]]]", "INTEGER",
  "INteger", "Integer[0b11]", "Integer[09]", "Integer[1_000]", "Integer[1.5]", "Sensitive[1]",
  "Sensitive[String[1]]", "Sensitive[Array[Integer[1],1]]", "Boolean['true']", "Boolean[1]", "Enum[a,a,b]",
  "Enum[\"a\\tb\"]", "Enum['a\\'b\\\\c\\d']", "Enum[\"\\u{41}\\u0042\\x\"]", "Enum[\"a$\"]", "Any[1]", "Undef[1]",
  "Default[1]", "Timestamp[undef]", "Foo::bar", "Foo::Bar[Integer, 'x']", "Foo[ 1 , 2 ]", "Puppet::LookupValue",
  "Rich::Data", "RichDataKey", "Component", "component", "Whit['x']", "Node", "Resources", "Integer[default]",
  "Float[default]", "Float[default,default]", "Float[2,1]", "Hash[String,Integer,Integer[1,2]]",
  "Hash[String,Integer,default,2]", "Hash[String,Integer,default]", "Array[default,Integer]",
  "Array[Integer,'default']", "Integer[1,default]", "Integer[unless]", "Enum[plan]", "Enum[attr]", "Enum[private]",
  "Enum[node]", "Struct[{default=>Integer}]", "Struct[{true=>Integer}]", "Struct[{undef=>Integer}]",
  "Struct[{if=>Integer}]", "Struct[{a-b=>Integer}]", "Enum[-a]", "Integer[- 1]", "Integer[-0x1F]", "Float[-1.5]",
  "Integer[+1]", "Pattern[/a/i]", "Type[Type[Type]]", "Array[\n Integer\n]", "Array[Integer]\n\n", "Array [Integer]",
  "Array[ [1] ]", "Init[Integer, [1,2]]", "Init[String, {a=>1}]", "Init[String,'%x']", "Init[String, undef]",
  "Init[String, default]", "Init[String, -1.50]", "Init[String, /a/]", "Init[String, Integer]", "::Integer",
  "::Data", "::Foo[1]", "Integer;", "Tuple[Integer['x']]", "Array[Variant]", "Variant", "Optional", "Struct", "Enum",
  "Pattern", "Tuple", "Timestamp[{string=>'x'}]", "Struct[a=>Integer,b=>String]", "Struct[{a=>Integer},{b=>String}]",
  "Callable[a=>1]", "Struct[{type=>Integer}]", "Struct[type=>Integer]", "Struct[{function=>Integer}]",
  "Struct[{attr=>Integer}]", "Array[Integer, 1, 2,]", "Struct[{a=>Integer, a=>String}]",
  "Struct[{a=>Integer, 'a'=>String}]", "Struct[{a=>Integer, Optional[a]=>String}]", "Integer[1,2,3]",
  "Resource[Foo,'a','b']", "Resource[Foo[a,b]]", "Resource['::foo']", "Resource['foo::bar']", "Resource['Foo::bar']",
  "Resource[FOO]", "Resource[foo]", "File['']", "File[true]", "File[default]", "File[[a,b]]", "File[Integer]",
  "Enum[Foo]", "Boolean[default]", "Timespan[default]", "Timespan[default,default]", "Timespan['5',undef]",
  "Sensitive[Any]", "Sensitive[Data]", "Sensitive[Enum[a,b]]", "Sensitive[Pattern[/x/]]",
  "Sensitive[Struct[{a=>Integer[1,2]}]]", "Sensitive[Tuple[Integer[1,2],String[1]]]",
  "Sensitive[Optional[String[1]]]", "Sensitive[Timestamp['2020-01-01']]",
  "Sensitive[Hash[String[1],Integer[1,2],1]]", "Sensitive[Variant[String[1],String[2]]]",
  "Sensitive[URI['http://x']]", "Sensitive[SemVer['1.x']]", "Sensitive[Regexp[/a/]]", "Type[Data]", "Array[Data]",
  "Array[RichData,1]", "Init[Data]", "Any", "Undef", "Scalar", "ScalarData", "Data", "RichData", "Foo", "foo",
  "Foo::Bar", "::Foo", "File", "Mount", "Integer[2,1]", "Integer[]", "Pcore::Foo"
].freeze

TYPES = [
  'Any', 'Undef', 'NotUndef', 'Default', 'Scalar', 'ScalarData', 'Numeric', 'Data', 'RichData', 'RichDataKey',
  'Puppet::LookupKey', 'Puppet::LookupValue', 'Integer', 'Integer[1,5]', 'Float', 'Float[1,2]', 'String', 'String[1]',
  'String[2,3]', 'Boolean', 'Boolean[true]', 'Enum[a,b]', "Enum['A',true]", 'Pattern[/^a/]', 'Regexp', 'Regexp[/x/]', 'Array',
  'Array[Integer]', 'Array[String,1,2]', 'Array[0,0]', 'Hash', 'Hash[String,Integer]', 'Hash[String,Data,2]', 'Collection',
  'Collection[1,2]', 'Tuple[Integer,String]', 'Tuple[Integer,1,3]', 'Tuple', 'Struct', 'Struct[{a=>Integer}]',
  'Struct[{a=>Integer, Optional[b]=>String}]', 'Struct[{a=>Optional[Integer]}]', 'Struct[{NotUndef[a]=>Optional[String]}]',
  'Optional[Integer]', "Optional['a']", 'Optional[Enum[x]]', 'Optional[Variant[Integer,Float]]', 'NotUndef[String]',
  'Variant[Integer,String]', 'Variant[Integer[1,2],Integer[3,4],Undef]', 'Variant[Enum[x],Enum[y],Pattern[/z/]]',
  'Variant[Array[Integer],Hash[String,Integer]]', 'Variant[Struct[{a=>String}],Struct[{b=>String}]]', 'Sensitive',
  'Sensitive[Integer]', 'Iterable', 'Iterable[Integer]', 'Iterable[String]', 'Iterator', 'Callable', 'Callable[String]',
  'Type', 'Type[Integer]', 'Type[Scalar]', 'Binary', 'SemVer', "SemVer['1.x']", 'SemVerRange', 'Timestamp',
  "Timestamp['2020-06-01']", 'Timespan', 'Timespan[0,60]', 'URI', "URI['http://a.b/c']", 'URI[{scheme=>Enum[http]}]', 'Init',
  'Init[Integer]', 'Init[Integer,16]', 'Init[Timespan]', 'CatalogEntry', 'Class', 'Resource', 'File', 'Foo', 'Array[Foo]', 'Runtime',
  'Object', 'Error', 'Array[Array[Integer[0]]]', 'Hash[Pattern[/^[a-z]+$/],Variant[String,Array[String]]]'
].freeze

VALUES = [
  nil, true, 0, 3, 7, { '$int' => '99999999999999999999' }, 1.5, 'a', 'abc', '', [], [1], [1, 'a'], ['a', nil], [[1], [-1]],
  map({}), map('a' => 1), map('a' => 'x', 'b' => 2), map('b' => 'x'), map('a' => nil), map(1 => 2), map('' => 1), sym('default'),
  { '$sensitive' => 5 }, { '$type' => 'Integer[1,2]' }, made('Timestamp', '2020-01-01'), made('Timespan', 90),
  made('SemVer', '1.2.3'), made('SemVerRange', '1.x'), made('Binary', 'YWJj'), made('URI', 'http://a.b/c'), made('Regexp', 'x')
].freeze

CONVERSIONS = [
  ["Integer", "abc"], ["Integer", [1]], ["Integer", {"a"=>1}], ["Integer", {"from"=>"x"}],
  ["Integer", {"from"=>"1", "radix"=>3}], ["Integer", "1", 3], ["Integer", "1", "x"], ["Integer", nil],
  ["Integer", "1", 10, true, 5], ["Integer[1,5]", "7"], ["Integer", "0x1G", 16], ["Integer", "ff", 16],
  ["Integer", "- 5"], ["Integer", 1.5], ["Float", "x"], ["Float", []], ["Numeric", ""], ["Boolean", "x"],
  ["Boolean", nil], ["Boolean", "x", 1], ["String", 1, "%q"], ["String", 1, 5], ["String", 1, {}],
  ["String", 1, "x"], ["String", 1, "%d", "%d"], ["Array", 5], ["Array", nil], ["Array", true], ["Array", "abc"],
  ["Array", {"a"=>1}], ["Array", 5, true], ["Array", 5, false], ["Array", 5, "x"], ["Hash", [1]], ["Hash", 5],
  ["Hash", nil], ["Hash", [1, 2]], ["Hash", [[1, 2]]], ["Hash", "ab"], ["Hash", [1, 2], "tree"],
  ["Hash", [[["a"], 1]], "tree"], ["Hash", [[["a"], 1]], "foo"], ["Tuple[Integer]", ["x"]], ["Tuple[Integer]", 5],
  ["Struct[{a=>Integer}]", {"a"=>"x"}], ["Struct[{a=>Integer}]", {}], ["Sensitive", "x"],
  ["Sensitive[Integer]", "x"], ["Timestamp", true], ["Timestamp", "x"], ["Timestamp", "2020-01-01"],
  ["Timestamp", 5.5], ["Timestamp", "2020", "%Y"], ["Timespan", true], ["Timespan", "1"], ["SemVer", "x"],
  ["SemVer", 1], ["SemVer", 1, 2], ["SemVer", 1, 2, 3], ["SemVer", "1.2.3"], ["SemVerRange", "x"],
  ["SemVerRange", 1], ["SemVerRange", "1.x"], ["Binary", "x"], ["Binary", 1], ["Binary", "YWJj"],
  ["Binary", "abc", "%s"], ["Binary", "abc", "%x"], ["URI", "x"], ["URI", ""], ["URI", 1], ["URI", "http://[x"],
  ["Regexp", "x"], ["Regexp", "["], ["Regexp", 1], ["Type", "Integer"], ["Type", "x"], ["Type", 1], ["Enum[a]", "b"],
  ["Enum[a]", "a"], ["Pattern[/a/]", "b"], ["Variant[Integer,String]", [1]], ["Variant[Integer,String]", 1],
  ["Optional[Integer]", "5"], ["Optional[Integer]", nil], ["Optional", "5"], ["NotUndef", "5"], ["NotUndef", nil],
  ["NotUndef[Integer]", "5"], ["Init[Integer]", "5"], ["Init[Integer,16]", "ff"], ["Init", "5"],
  ["Init[Integer]", ["5", 16]], ["Any", "x"], ["Any", "x", 1], ["Undef", "x"], ["Undef", nil], ["Undef", nil, 1],
  ["Scalar", "x"], ["Scalar", []], ["ScalarData", []], ["Data", "x"], ["Data", :default], ["RichData", "x"],
  ["Collection", []], ["Collection", 5], ["Iterable", 5], ["Iterable", nil], ["Iterator", 5], ["Callable", 5],
  ["CatalogEntry", 5], ["Class", 5], ["Resource", 5], ["File", 5], ["Default", 5], ["Default", :default], ["Foo", 5],
  ["Foo[1]", 5], ["Runtime", 5], ["TypeSet", 5], ["Puppet::LookupKey", 5], ["Puppet::LookupKey", [5]], [5, 5],
  ["Array[Integer]", ["a"]], ["Array[Integer]", 5, true], ["Numeric", "0x"], ["Numeric", "1e5"], ["Numeric", "077"],
  ["Numeric", "089"], ["Numeric", "- 5"], ["Float", "- 5"], ["Float", "0x1F"], ["Float", "0x6f7cedf9549a52e"], ["Float", "-0x6f7cedf9549a52e"],
  ["Float", "0b11"], ["Float", "-0b11"],
  ["Float", "1_000"], ["Integer", "1_000"], ["Integer", "099"], ["Integer", "077"], ["Integer", "0b11"],
  ["Integer", "0b11", 2], ["Integer", "11", 2], ["Integer", "0x11", 8], ["Integer", "+5"], ["Integer", "+ 5"],
  ["Integer", "-  0x1f"], ["Integer", 1.0e+22], ["Integer", Float::NAN], ["Integer", Float::INFINITY],
  ["Boolean", Float::NAN], ["String", Float::NAN], ["String", Float::INFINITY], ["Integer", "٣"], ["Integer", "5\n"],
  ["Integer", " 5"], ["Init[Integer,'x']", "5"], ["Init[Any]", "5"], ["Init[Foo]", "5"],
  ["Init[Optional[Integer]]", "5"], ["Integer", :undef], ["Integer", :default], ["String", :undef],
  ["String", :default], ["String", nil], ["Float", "0"], ["Float", "0.5"], ["Float", "00"], ["Float", "077"],
  ["Float", "1e400"], ["Float", "-1e400"], ["Numeric", "1e400"], ["Numeric", "-0b11"], ["Numeric", "-0x1F"],
  ["Numeric", "0"], ["Numeric", "00"], ["Numeric", "+5"], ["Numeric", " 5"], ["Numeric", "-  5.5"],
  ["Numeric", "\n5"], ["Numeric", "5.50"], ["Numeric", "-077"], ["Numeric", "-0b11", true],
  ["Numeric", {"from"=>"5"}], ["Numeric", {"from"=>"x"}], ["Numeric", {"a"=>"x"}],
  ["Float", {"from"=>"-5", "abs"=>true}], ["Integer", "0b11", 16], ["Integer", "077", 10], ["Integer", "012", 2],
  ["Integer", "-\n5"], ["Integer", "- 099"], ["Float", "- 0b11"], ["Float", " 0b11"], ["Float", "0x1p3"],
  ["Float", "1E5"], ["Float", "- 1E5"], ["Regexp", "a.b", true], ["Regexp", "a b\n\t#-/", true], ["Hash", 1],
  ["Hash", 0], ["Hash", ""], ["Hash", "a"], ["Hash", -1], ["Hash", 1.5], ["Hash", {"a"=>1}],
  ["Hash[String,Integer]", ["a", 1]], ["Hash", [[[], {"a"=>1}], [["a"], 2]], "tree"],
  ["Hash", [[[], [1, 2]]], "tree"], ["Hash", [[["a"], [1, [2, 3]]]], "hash_tree"],
  ["Hash", [[["a"], [1, [2, 3]]]], "tree"], ["Hash", [[["a"], [1]], [["a", 0], 5]], "tree"],
  ["Hash", [[["a"], [1]], [["a", 3], 5]], "tree"], ["Hash", [[["a"], [1]], [["a", "x"], 5]], "tree"],
  ["Hash", [[["a"], "s"], [["a", "x"], 5]], "tree"], ["Hash", [[["a"], 5], [["a", "x"], 5]], "tree"],
  ["Hash", [[["a"], 5], [["a", "x", "y"], 5]], "tree"], ["Hash", [[["a"], nil], [["a", "x", "y"], 5]], "tree"],
  ["Hash", [[[], 5]], "tree"], ["Hash", [[["a"], [1]], [["a", -3], 5]], "tree"],
  ["Hash", [[["a"], [1]], [["a", -1], 5]], "tree"], ["Hash", [[["a"], [[1]]], [["a", 0, 0], 5]], "tree"],
  ["Hash", [[["a"], [[1]]], [["a", 2, 0], 5]], "tree"], ["Hash", [[["a", "b"], 1], [["a", "c"], 2]]],
  ["Hash", [[1, 2], [1, 3]]], ["Array", 10, true], ["Array", nil, true], ["Array", {}], ["Array", [1], true],
  ["Array", -1], ["Array", 1.5], ["Array[Integer,1,2]", [1, 2, 3]], ["Array", :default], ["Binary", "YWJj\n"],
  ["Binary", "YWJj\n", "%b"], ["Binary", "YWI", "%b"], ["Binary", "YWI=", "%b"], ["Binary", "YWI", "%B"],
  ["Binary", "YWI", "%u"], ["Binary", "_-8=", "%u"], ["Binary", "_-8", "%u"], ["Binary", "é", "%s"],
  ["Binary", "é", "%r"], ["Binary", "é", "%b"], ["Binary", [1, 2, 255]], ["Binary", [256]],
  ["Binary", {"value"=>"YWJj"}], ["Binary", {"value"=>[1]}], ["Binary", {"value"=>"abc", "format"=>"%s"}],
  ["Binary", ""], ["Binary", "YWK="], ["SemVer", "1.2.3-rc.1+b"], ["SemVer", "1.2.3-01"],
  ["SemVer", {"major"=>1, "minor"=>2, "patch"=>3, "prerelease"=>"rc.1"}], ["SemVer", 1, 2, 3, "rc.1", "b"],
  ["SemVer['1.x']", "2.0.0"], ["SemVerRange", ">1.0.0 || >2.0.0"], ["SemVerRange", "<=x"],
  ["SemVerRange", "1.0.0 - 2.0.0"], ["SemVerRange", ">=1.0.0 <2.0.0"], ["SemVerRange", ""],
  ["SemVerRange", " 1.0.0"], ["SemVerRange", "1.0.0 "], ["SemVerRange", "1 2"], ["SemVerRange", ">2 <1"],
  ["SemVerRange", ">2 <1 1"], ["SemVerRange", "||1"], ["SemVerRange", "> v1"], ["SemVerRange", "^0.2"],
  ["SemVerRange", "^x"], ["SemVerRange", "~1.2.3"], ["SemVerRange", "1.2.3 || 1.2.4"],
  ["SemVerRange", :default, :default], ["URI", "http://Example.com:80/a b"],
  ["URI", "HTTP://Example.com:80/a?b c#d"], ["URI", "file:/x"], ["URI", "mailto:a@b"], ["URI", "ftp://h/p"],
  ["URI", "a:b"], ["URI", "//h/p"], ["URI", "http://h:/p"], ["URI", "http:///p"], ["URI", "?q"], ["URI", "é"],
  ["URI", {"scheme"=>"http", "host"=>"x"}], ["URI", {"scheme"=>"http", "host"=>"x", "path"=>"y"}],
  ["URI", {"host"=>"x"}], ["URI", {"scheme"=>"https", "host"=>"x", "port"=>443, "path"=>"/y", "query"=>"a=b"}],
  ["URI", {}], ["URI", {"foo"=>"x"}], ["Boolean", 0], ["Boolean", 0.0], ["Boolean", "YES"], ["Boolean", "N"],
  ["Boolean[true]", "n"], ["String[1,2]", 12345], ["String[1]", nil], ["Sensitive", 5, 6], ["NotUndef", 5, 6],
  ["Timespan", "1-2:3:4.5"], ["Timespan", 1, 2, 3, 4], ["Timespan", 1, 2, 3, 4, 5, 6, 7], ["Timespan", 1, 2, 3],
  ["Timespan", {"days"=>1, "negative"=>true}], ["Timespan", {"string"=>"5"}], ["Timespan", {}], ["Timespan", -5],
  ["Timespan", 1.5], ["Timespan", "12:30", "%H:%M"], ["Timespan", "x", "%H"], ["Timespan", "5", ["%H", "%M"]],
  ["Timespan", "5", "%q"], ["Timespan", "5", "%"], ["Timespan", "5", "xx"], ["Timespan[0,10]", "11"],
  ["Type", "Integer[1]"], ["Type[Integer]", "String"], ["Type[Integer]", "Integer[1]"], ["Timestamp", "2020-02-30"],
  ["Timestamp", "2020-13-01"], ["Timestamp", "2020-01-01T10:20:30"], ["Timestamp", "2020-01-01T10:20:30.123 CET"],
  ["Timestamp", "2020-01-01 10:20:30 +02:00"], ["Timestamp", "2020-01-01 10:20:30 XYZ"], ["Timestamp", "10", "%H"],
  ["Timestamp", "20", "%y"], ["Timestamp", "2020-01-01", "%F", "PST"], ["Timestamp", "2020-01-01", "%F", "foo"],
  ["Timestamp", "2020-01-01 CET", "%F %Z", "PST"], ["Timestamp", "2020-01-01", ["%F %T", "%F"], "PST"],
  ["Timestamp", "2020 Jan 5 3:04 PM", "%Y %b %d %I:%M %p"], ["Timestamp", {"string"=>"2020-01-01"}],
  ["Timestamp", {"string"=>"2020-01-01", "timezone"=>"+02:00"}],
  ["Timestamp", {"string"=>"2020-01-01", "format"=>"%F"}], ["Timestamp", -1], ["Timestamp", -1.5],
  ["Timestamp", 1.0e+18], ["Timestamp", "2020-01-01", "x"]
].freeze

FORMATS = [
  [255, '%x'], [255, '%#X'], [255, '%08o'], [255, '%#b'], [-255, '%x'], [-255, '%#x'], [-255, '%+x'], [-1, '%.5b'],
  [-255, '%08x'], [255, '%-8d|'], [255, '%-8d'], [255, '%+d'], [255, '% d'], [255, '%.6d'], [0, '%#x'], [0, '%#o'],
  [0, '%.0d'], [65, '%c'], [65, '%#c'], [8364, '%5c'], [255, '%s'], [255, '%#s'], [255, '%p'], [255, '%e'], [255, '%g'],
  [255, '%a'], [255, '%q'], [255, '%(d'], [255, '%<d'], [255, '%dd'], [255, '%--d'], [255, '%{[d'], [255, "%d\n"],
  [3.25, '%f'], [3.25, '%.1f'], [3.25, '%e'], [3.25, '%G'], [3.25, '%#g'], [3.25, '%a'], [3.25, '%d'], [3.25, '%s'],
  [3.25, '%#s'], [3.25, '%p'], [3.25, '%010.2f'], [-3.25, '%010.2f'], [1e20, '%d'], [1e20, '%g'], [1e-7, '%g'],
  [7.0, '%.0a'], [0.0, '%a'], [3.25, '%c'], ['aBc', '%s'], ['aBc', '%p'], ['aBc', '%#p'], ['aBc', '%c'], ['a::bC', '%C'],
  ['aBc', '%u'], ['aBc', '%d'], [' x ', '%t'], [' x ', '%#t'], ['aBc', '%10s'], ['aBc', '%-10s'], ['aBc', '%.2s'],
  ['aBc', '%10.2p'], ["a'b", '%p'], ["a\nb", '%p'], ['a$b', '%#p'], ['é', '%u'], ['ß', '%c'], ['aBc', '%x'],
  [true, '%t'], [false, '%#T'], [true, '%y'], [false, '%#Y'], [true, '%d'], [true, '%x'], [true, '%f'], [false, '%5s'],
  [true, '%p'], [true, '%z'], [nil, '%s'], [nil, '%#s'], [nil, '%p'], [nil, '%n'], [nil, '%#n'], [nil, '%u'], [nil, '%d'],
  [nil, '%v'], [nil, '%V'], [nil, '%q'], [:default, '%s'], [:default, '%#D'], [:default, '%x'],
  [[1, 'a', [2]], '%s'], [[1, 'a', [2]], '%(a'], [[1, 'a', [2]], '%#a'], [[1, 'a', [2]], '% a'], [[1, 'a', [2]], '%#4a'],
  [[1, 'a'], '%d'], [[{ 'a' => [1, { 'b' => 2 }] }], '%#p'], [{ 'a' => 1, 'b' => [1, 2] }, '%h'],
  [{ 'a' => 1, 'b' => { 'c' => 2 } }, '%#h'], [{ 'a' => 1 }, '%a'], [{ 'a' => 1 }, '%(h'], [{ 'a' => 1 }, '%d'],
  [{ 'a' => { 'b' => [1, [2, 3]] } }, '%#s'], [[], '%#a'], [{}, '%#h'],
  [made('Binary', 'woUBIw=='), '%#s'], [made('Binary', 'woUBIw=='), '%#b']
].freeze

EXPLAINED = [
  [{ '$type' => 'Integer' }, 10], [{ '$type' => 'String[1]' }, '%#x'], [{ '$type' => 'Foo' }], ['x', nil, true, 1.5],
  [{ '$type' => 'Struct[{a=>Integer}]' }, map('a' => [1, "it's"])], [sym('default'), { '$sensitive' => 'x' }], []
].freeze

# Every type is checked against about every fifth value, each time different ones.
CHECKS = TYPES.each_with_index.flat_map do |type, i|
  VALUES.each_with_index.select { |_, j| ((i * 7) + (j * 3)) % 4 == 0 }.map { |value, _| { 'check' => type, 'value' => value } }
end

questions =
  TEXTS.map { |text| { 'parse' => text } } + CHECKS +
  CONVERSIONS.map { |type, value, *args| { 'convert' => type, 'value' => form(value), 'args' => form(args) } } +
  FORMATS.map { |value, format| { 'convert' => 'String', 'value' => form(value), 'args' => [format] } } +
  EXPLAINED.map { |values| { 'text' => values } }

recorder = Recorder.new
if ARGV.first == '--serve'
  $stdout.sync = true
  $stdin.each_line { |line| puts JSON.generate(recorder.answer(JSON.parse(line, max_nesting: false)), max_nesting: 0) }
else
  cases = questions.map { |ask| JSON.generate({ 'ask' => ask, 'answer' => recorder.answer(ask) }, max_nesting: 0) }
  puts "[\n#{cases.join(",\n")}\n]"
end
