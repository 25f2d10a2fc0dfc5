#!/usr/bin/env ruby
# frozen_string_literal: true

# The oracle: one Ruby process that runs the real Puppet and answers lookups.
#
# stdin:  one JSON object per line:
#         {"id": any, "codedir": DIR, "hiera_config": FILE|null, "request": {...}}
#         The request has the fields of `POST /lookup` (openapi.yaml).
# stdout: one JSON object per line, in the same order:
#         {"id":…, "status":"found","value":…,"sensitive":bool}
#         {"id":…, "status":"not_found"}
#         {"id":…, "status":"error","message":…,"class":…}
#         plus "told":bool when the request has explain: does the command line
#         print the explanation, with the error as its end, or the error alone?
#         plus "explain_text" and "explain_json" when the request has explain,
#         and, for a deep merge, also "explain_text_cli" and
#         "explain_json_cli": the command line shows the options of a deep merge
#         even if they have their default values, the function does not.
#
# Every request gets a new environment, node, compiler and scope, so nothing
# is cached from one request to the next.

Encoding.default_external = Encoding::UTF_8
Encoding.default_internal = nil

require 'json'
require 'tmpdir'
require 'fileutils'

# Only this script may read the questions and write the answers: Puppet starts
# programs (for example config_version in environment.conf).
ORACLE_IN = $stdin.dup
ORACLE_IN.set_encoding(Encoding::UTF_8)
$stdin.reopen(File::NULL)
ORACLE_OUT = $stdout.dup
ORACLE_OUT.set_encoding(Encoding::UTF_8)
$stdout.reopen($stderr)

require 'puppet'
require 'puppet/node'
require 'puppet/parser/compiler'
require 'puppet/pops'

# The string that cannot be written as JSON (NaN, infinity, broken UTF-8).
class Unrepresentable < StandardError; end

# Optimizations that do not change an answer (ORACLE_SLOW=1 disables them; both
# must always agree):
# - the class of one of Puppet's own functions is evaluated once, not once per
#   request (its instance, with scope and loader, is still new each time);
# - the files that ship with Puppet are listed and read once;
# - the variables of $settings:: are not filled in;
# - the type Error is parsed when it is needed.
module Cheap
  FUNCTION_CLASSES = {} # rubocop:disable Style/MutableConstant

  def self.install
    Puppet::Pops::Loader::RubyFunctionInstantiator.singleton_class.prepend(Functions)
    Puppet::Pops::Loader::ModuleLoaders::LibRootedFileBased.prepend(OwnFiles)
    Puppet::Parser::Scope.prepend(Settings)
    Puppet::Pops::Loaders.prepend(Types)
  end

  # Functions that ship with Puppet.
  module Functions
    OWN = File.join(File.dirname($LOADED_FEATURES.find { |f| f.end_with?('/puppet/pops.rb') }), 'functions')

    def create(loader, typed_name, source_ref, ruby_code_string)
      return super unless source_ref.to_s.start_with?(OWN)

      known = FUNCTION_CLASSES[source_ref.to_s]
      return known.new(nil, loader.private_loader) if known

      super.tap { |function| FUNCTION_CLASSES[source_ref.to_s] = function.class }
    end
  end

  # The loader of what ships with Puppet (no other is rooted in its lib directory).
  module OwnFiles
    FOUND = {} # rubocop:disable Style/MutableConstant
    CONTENTS = {} # rubocop:disable Style/MutableConstant

    def add_to_index(smart_path)
      known = FOUND["#{smart_path.generic_path} #{smart_path.extension}"] ||= Dir.glob(
        File.join(smart_path.generic_path, '**', "*#{smart_path.extension}")
      )
      @path_index.merge(known)
      known
    end

    def get_contents(effective_path)
      CONTENTS[effective_path] ||= super
    end
  end

  # $settings::…
  module Settings
    def merge_settings(*) = nil
  end

  # Loaders#pre_load
  module Types
    def pre_load = nil
  end
end

# Boots Puppet once, answers one request at a time.
class Oracle
  HIERA1_NAMES = { 'priority' => 'first', 'array' => 'unique' }.freeze
  NOT_FOUND = /\AFunction lookup\(\) did not find a value for /.freeze

  def initialize
    @home = Dir.mktmpdir('oracle')
    at_exit { FileUtils.remove_entry(@home, true) }
    code = File.join(@home, 'code')
    FileUtils.mkdir_p(File.join(code, 'environments', 'production'))
    Puppet.initialize_settings(
      ['--confdir', File.join(@home, 'conf'), '--vardir', File.join(@home, 'var'),
       '--codedir', code, '--logdest', 'console'], false
    )
    Puppet.settings.preferred_run_mode = :server if Puppet.settings.respond_to?(:preferred_run_mode=)
    Puppet::Util::Log.level = :crit
    Puppet.push_context_global(Puppet.base_context(Puppet.settings), 'oracle')
    Puppet[:code] = 'undef' # as `puppet lookup` without --compile
    @nowhere = File.join(@home, 'no-global-layer', 'hiera.yaml')
    FileUtils.mkdir_p(File.dirname(@nowhere))
  end

  def answer(ask)
    codedir = File.expand_path(ask.fetch('codedir'))
    request = ask.fetch('request')
    env_name = request['environment'] || 'production'
    modulepath = [File.join(codedir, 'modules')]

    Puppet[:codedir] = codedir
    Puppet[:environmentpath] = File.join(codedir, 'environments')
    Puppet[:basemodulepath] = modulepath.join(File::PATH_SEPARATOR)
    Puppet[:hiera_config] = ask['hiera_config'] ? File.expand_path(ask['hiera_config']) : @nowhere
    Puppet[:environment] = env_name

    loader = Puppet::Environments::Directories.new(Puppet[:environmentpath], modulepath)
    Puppet.override(environments: loader) do
      env = loader.get(env_name)
      return { 'status' => 'error', 'class' => 'UnknownEnvironment', 'message' => "no environment #{env_name}" } if env.nil?

      Puppet.override(current_environment: env) { in_environment(env, request) }
    end
  rescue StandardError, SystemStackError, LoadError, NotImplementedError => e
    failure(e)
  end

  private

  def failure(error, more = nil)
    { 'status' => 'error', 'class' => error.class.name, 'message' => clean(error.message.to_s), **more.to_h }
  end

  def clean(text)
    text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub('?')
  end

  def in_environment(env, request)
    answer = nil
    compiler = Puppet::Parser::Compiler.new(node(env, request))
    compiler.compile do |catalog|
      answer = lookup(compiler.topscope, request)
      catalog
    end
    answer
  end

  # The node as `puppet lookup` creates it: facts are parameters too; variables
  # of a classifier are set first, so that a fact cannot replace them.
  def node(env, request)
    trusted = deep_dup(request['trusted'] || {})
    trusted['certname'] = request['node'] if request['node'] && !trusted.key?('certname')
    name = trusted['certname'] || 'node.invalid'
    node = Puppet::Node.new(name.to_s)
    node.parameters.merge!(deep_dup(request['variables'] || {}))
    node.environment = env
    node.fact_merge(Puppet::Node::Facts.new(name.to_s, deep_dup(request['facts'] || {})))
    node.trusted_data = trusted
    # Set when a catalog is compiled for an agent; `puppet lookup` leaves it out.
    node.instance_variable_set(:@server_facts, { 'environment' => env.name.to_s })
    node
  end

  def deep_dup(value)
    case value
    when Hash then value.each_with_object({}) { |(k, v), h| h[k.dup] = deep_dup(v) }
    when Array then value.map { |v| deep_dup(v) }
    when String then value.dup
    else value
    end
  end

  def lookup(scope, request)
    out = lookup_with(scope, request, merge(request['merge']))
    return out unless request['explain'] && (cli = cli_merge(request['merge']))

    again = lookup_with(fresh_scope(scope, request), request, cli)
    if again['explain_text'] != out['explain_text']
      out['explain_text_cli'] = again['explain_text']
      out['explain_json_cli'] = again['explain_json']
    end
    out
  end

  # The compiler caches answers, so a second explanation needs another compiler.
  def fresh_scope(scope, request)
    compiler = Puppet::Parser::Compiler.new(node(scope.environment, request))
    compiler.compile { |catalog| catalog }
    compiler.topscope
  end

  # The merge options that `puppet lookup --merge deep` derives from its flags.
  def cli_merge(given)
    given = { 'strategy' => given } unless given.is_a?(Hash)
    return nil unless given['strategy'] == 'deep'

    out = { 'strategy' => 'deep', 'sort_merged_arrays' => given['sort_merged_arrays'] == true,
            'merge_hash_arrays' => given['merge_hash_arrays'] == true }
    out['knockout_prefix'] = given['knockout_prefix'] if given['knockout_prefix']
    out
  end

  def lookup_with(scope, request, merge)
    explainer = explainer_for(request['explain'])
    invocation = Puppet::Pops::Lookup::Invocation.new(
      scope, deep_dup(request['override'] || {}), deep_dup(request['default_values'] || {}), explainer
    )
    out =
      begin
        found(scope, invocation, request, merge)
      rescue Puppet::DataBinding::LookupError => e
        invocation.report_text { e.message }
        e.message =~ NOT_FOUND ? { 'status' => 'not_found' } : failure(e, explainer && { 'told' => true })
      rescue StandardError, SystemStackError, LoadError, NotImplementedError => e
        failure(e, explainer && { 'told' => false })
      end
    add_explanation(out, explainer) if explainer && out['told'] != false
    out
  end

  def found(scope, invocation, request, merge)
    # As in the function lookup(). (`puppet lookup --type` passes the scope to the
    # parser instead of a loader, and therefore fails on an alias such as Data.)
    type = request['type'] ? Puppet::Pops::Types::TypeParser.singleton.parse(request['type']) : nil
    value = Puppet::Pops::Lookup.lookup(
      request['key'], type, deep_dup(request['default']), request.key?('default'), merge, invocation
    )
    @sensitive = false
    plain = render(value, scope)
    { 'status' => 'found', 'value' => plain, 'sensitive' => @sensitive }
  end

  def merge(given)
    case given
    when nil then nil
    when String then HIERA1_NAMES.fetch(given, given)
    else deep_dup(given)
    end
  end

  def explainer_for(explain)
    case explain
    when nil, false then nil
    when 'options' then Puppet::Pops::Lookup::Explainer.new(true, true)
    when 'both' then Puppet::Pops::Lookup::Explainer.new(true, false)
    else Puppet::Pops::Lookup::Explainer.new(false, false)
    end
  end

  def add_explanation(out, explainer)
    out['explain_text'] = clean(explainer.explain)
    out['explain_json'] = JSON.parse(Puppet::Network::FormatHandler.format(:json).render(explainer.to_hash), max_nesting: false)
  rescue StandardError => e
    out['explain_error'] = clean("#{e.class}: #{e.message}")
  end

  # Data stays as it is; a Sensitive is unwrapped and flagged; anything else
  # becomes what String() of the Puppet language returns.
  def render(value, scope)
    case value
    when nil, true, false, Integer then value
    when Float
      raise Unrepresentable, "#{value} has no JSON form" unless value.finite?

      value
    when String then value
    when Symbol then value == :undef ? nil : stringify(value, scope)
    when Array then value.map { |v| render(v, scope) }
    when Hash then value.each_with_object({}) { |(k, v), h| h[render_key(k, scope)] = render(v, scope) }
    when Puppet::Pops::Types::PSensitiveType::Sensitive
      @sensitive = true
      render(value.unwrap, scope)
    else stringify(value, scope)
    end
  end

  # A numeric key is shown as `puppet lookup --render-as json` prints it.
  def render_key(key, scope)
    case key
    when String then key
    when Numeric then key.to_s
    else stringify(key, scope)
    end
  end

  def stringify(value, scope)
    scope.call_function('new', [Puppet::Pops::Types::PStringType::DEFAULT, value])
  end
end

if __FILE__ == $PROGRAM_NAME
  Cheap.install unless ENV['ORACLE_SLOW']
  oracle = Oracle.new
  ORACLE_IN.each_line do |line|
    next if line.strip.empty?

    ask = JSON.parse(line, max_nesting: false)
    out = oracle.answer(ask)
    out = { 'id' => ask['id'] }.merge(out) if ask.key?('id')
    begin
      text = JSON.generate(out, max_nesting: 0)
    rescue StandardError => e
      text = JSON.generate({ 'id' => ask['id'], 'status' => 'error', 'class' => e.class.name, 'message' => e.message })
    end
    ORACLE_OUT.puts(text)
    ORACLE_OUT.flush
  end
end
