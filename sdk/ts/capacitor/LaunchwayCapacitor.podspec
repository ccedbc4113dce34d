require 'json'

package = JSON.parse(File.read(File.join(__dir__, 'package.json')))

Pod::Spec.new do |s|
  s.name = 'LaunchwayCapacitor'
  s.version = package['version']
  s.summary = package['description']
  s.license = package['license']
  s.homepage = 'https://capacitorjs.com'
  s.author = 'Launchway'
  s.source = { :path => '.' }
  s.source_files = 'ios/Sources/**/*.swift'
  s.resource_bundles = { 'LaunchwayCapacitorPrivacy' => ['ios/Sources/LaunchwayCore/PrivacyInfo.xcprivacy'] }
  s.ios.deployment_target = '14.0'
  s.libraries = 'z'
  s.dependency 'Capacitor'
  s.swift_version = '5.9'
end
