#!/usr/bin/env ruby
# Lookups by Puppet in process, as in a compiling server: Puppet is booted once, the environment is cached
# (environment_timeout = unlimited), and every node gets its own compiler and top scope. All compilers share the parsed
# data files, but not what a compiler caches itself (lookup options, resolved paths), as for a catalog.
#
#     puppet_driver.rb TREE
#
# Runs lookups until everything is parsed, then prints its answers to the first lookup of each kind. After that, each line
# on standard input starts a round, and a line of JSON is its result: microseconds of CPU time per lookup,
#
#     fresh   with a new compiler: a request for any node to a warm server
#     warm    in a compiler that has answered such lookups before
require 'json'
require 'tmpdir'
require 'fileutils'
require 'puppet'
require 'puppet/pops'

KINDS = %w[first_common first_node unique hash deep bigdeep interp module miss].freeze
LOOKUPS = 100   # of each kind
SPAN = 0.1      # seconds of CPU time per measurement

tree = File.expand_path(ARGV.fetch(0) { abort('usage: puppet_driver.rb TREE') })
scratch = Dir.mktmpdir('puppet-driver')
at_exit { FileUtils.remove_entry(scratch) }
Puppet.initialize_settings(['--confdir', "#{scratch}/conf", '--vardir', "#{scratch}/var", '--codedir', "#{scratch}/code",
                            '--environmentpath', "#{tree}/environments", '--environment_timeout', 'unlimited',
                            '--log_level', 'err', '--manage_internal_file_permissions', 'false'])
environments = Puppet::Environments::Cached.new(Puppet::Environments::Directories.new("#{tree}/environments", []))
Puppet.push_context(Puppet.base_context(Puppet.settings).merge(environments: environments))
ENVIRONMENT = environments.get!(:production)
NOTHING = Object.new.freeze

def compiler_for(request)
  name = request['trusted']['certname']
  facts = Puppet::Node::Facts.new(name, request['facts'])
  node = Puppet::Node.new(name, environment: ENVIRONMENT, facts: facts)
  node.merge(facts.values)
  node.trusted_data = request['trusted']
  compiler = Puppet::Parser::Compiler.new(node)
  compiler.send(:set_node_parameters)
  compiler
end

def within(compiler, &block)
  Puppet.override({ current_environment: ENVIRONMENT, global_scope: compiler.topscope, loaders: compiler.loaders,
                    rich_data: false }, 'lookup', &block)
end

def look_up(compiler, key)
  invocation = Puppet::Pops::Lookup::Invocation.new(compiler.topscope, {}, {}, nil)
  Puppet::Pops::Lookup.lookup(key, nil, NOTHING, true, nil, invocation)
end

def look_up_fresh(request)
  compiler = compiler_for(request)
  within(compiler) { look_up(compiler, request['key']) }
end

def cpu_time = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

# CPU time per operation of the block, which returns the number of operations.
def cost
  start = cpu_time
  count = 0
  count += yield(count) while cpu_time - start < SPAN
  (cpu_time - start) / count * 1e6
end

def fresh_cost(requests)
  cost { |count| look_up_fresh(requests[count % requests.size]); 1 }
end

def warm_cost(requests)
  compiler = compiler_for(requests.first)
  keys = requests.map { |request| request['key'] }.uniq
  within(compiler) do
    keys.each { |key| look_up(compiler, key) }
    cost { |count| 10.times { |more| look_up(compiler, keys[(count + more) % keys.size]) }; 10 }
  end
end

requests = KINDS.to_h do |kind|
  [kind, File.foreach("#{tree}/lookups-#{kind}.jsonl").first(LOOKUPS).map { |line| JSON.parse(line) }]
end
answers = requests.transform_values do |of_kind|
  answer, = of_kind.map { |request| look_up_fresh(request) }
  answer.equal?(NOTHING) ? {} : { value: answer }
end
$stdout.sync = true
puts JSON.generate(answers)
$stdin.each_line do
  puts JSON.generate(requests.transform_values { |of_kind| { fresh: fresh_cost(of_kind), warm: warm_cost(of_kind) } })
end
