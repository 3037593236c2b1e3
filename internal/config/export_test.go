package config

// Describe says what a field's value has to be, for the documentation.
var Describe = describe

// Trusted says what is wrong with a file that was not named.
var Trusted = trusted
