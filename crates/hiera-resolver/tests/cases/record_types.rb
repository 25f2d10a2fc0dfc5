#!/usr/bin/env ruby
# frozen_string_literal: true

# Records what the real Puppet says of types and conversions, for tests/types.rs.
#
#   ruby record_types.rb > types.json          records the cases below
#   ruby record_types.rb --serve               answers one JSON question a line, for fuzzing
#
# Needs Puppet 7 (package puppet-agent). A question is one of
#   {"parse": TYPE}                            -> {"type": TEXT}
#   {"check": TYPE, "value": V}                -> {"instance": BOOL, "mismatch": TEXT}
#   {"convert": TYPE, "value": V, "args": [V]} -> {"result": V}
#   {"text": [V]}                              -> {"text": TEXT}, what an explanation prints
# or {"error": TEXT, "class": RUBY CLASS}. A value V is JSON, with these forms besides:
#   {"$map": [[K, V], ...]} every hash    {"$int": "1"} a large integer   {"$float": "NaN"}
#   {"$sym": "default"}                   {"$bytes": HEX}                  {"$type": TEXT}
#   {"$sensitive": V}                     {"$rich": TYPE NAME, "text": String(value)} (answers only)

require 'json'
require 'tmpdir'
require 'fileutils'
require 'puppet'
require 'puppet/pops'

# Puppet, ready to be asked.
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
    { 'error' => e.message.dup.force_encoding('UTF-8').scrub('?'), 'class' => e.class.name }
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

# CASES
