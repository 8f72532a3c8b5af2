# Verifies a webhook with billcore's C library: ruby verify.rb SIGNATURE < BODY, with WEBHOOK_SECRET set.
require "ffi"

module Billcore
  extend FFI::Library
  ffi_lib "libbillcore-webhook.so.0"

  class Str < FFI::Struct # billcore_str: bytes that the caller keeps
    layout :data, :pointer, :len, :size_t

    def self.of(bytes) # nil, for a header that the request does not have, is {NULL, 0}
      str = new
      str[:data] = FFI::MemoryPointer.new(:char, bytes.bytesize + 1).put_bytes(0, bytes) if bytes
      str[:len] = bytes ? bytes.bytesize : 0
      str
    end

    def to_s = self[:data].read_bytes(self[:len]).force_encoding("UTF-8")
  end

  attach_function :billcore_webhook_unwrap, [Str.by_value, Str.by_value, Str.by_value, :pointer, :pointer], :int32
  attach_function :billcore_resource_text, [:pointer, Str.by_value, Str.by_ref, :pointer, :pointer], :int32
  attach_function :billcore_error_message, [:pointer], Str.by_value
  attach_function :billcore_event_free, [:pointer], :void
  attach_function :billcore_error_free, [:pointer], :void
end

body = $stdin.binmode.read # the raw bytes: JSON that is parsed and written again has another signature
event, error, name = FFI::MemoryPointer.new(:pointer), FFI::MemoryPointer.new(:pointer), Billcore::Str.new
texts = [body, ARGV[0], ENV["WEBHOOK_SECRET"]].map { |bytes| Billcore::Str.of(bytes) }
begin
  status = Billcore.billcore_webhook_unwrap(*texts, event, error)
  status = Billcore.billcore_resource_text(event.read_pointer, Billcore::Str.of("name"), name, nil, error) if status == 0
  abort Billcore.billcore_error_message(error.read_pointer).to_s if status != 0
  puts name
ensure
  Billcore.billcore_event_free(event.read_pointer)
  Billcore.billcore_error_free(error.read_pointer)
end
